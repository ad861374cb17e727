//  certificate - keys in files
//
//  A folder holds a certificate for each key: NAME.cert with the public key, the name and the roles of its holder, and,
//  where the key is one's own, NAME.cert_secret with the secret key too, readable by its owner only.  The files are those
//  of czmq (zcert).  What lies in the folder is let in; a revoked certificate is moved to the folder `revoked` inside.

#ifndef CLI_CERTIFICATE_H
#define CLI_CERTIFICATE_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "runtime/keyring.h"

enum { ROLES_TEXT_SIZE = 256 };

typedef struct {
    char name [KEY_NAME_SIZE];          //  Of its holder; also of the file
    char roles [ROLES_TEXT_SIZE];       //  Names with blanks between
    char public_key [KEY_TEXT_SIZE];    //  Z85
    char secret_key [KEY_TEXT_SIZE];    //  Z85; "" where the file has none
} certificate_t;

//  A fresh key pair.  name, roles: as given, checked.
status_t certificate_make (certificate_t *self, const char *name, const char *roles, error_t *error);

//  Writes NAME.cert and NAME.cert_secret into the folder, made where it is not there: both or none.  STATUS_EXISTS where they
//  are.
status_t certificate_write (const certificate_t *self, const char *folder, error_t *error);

//  Reads NAME.cert, or NAME.cert_secret where `secret`; the latter must be its owner's alone.
status_t certificate_read (certificate_t *self, const char *folder, const char *name, bool secret, error_t *error);

//  Text of a file and back.  STATUS_CORRUPT where it is no certificate.
void certificate_print (const certificate_t *self, bool secret, buffer_t *out);
status_t certificate_parse (certificate_t *self, span_t text, error_t *error);

//  Appends the certificates of a folder (certificate_t), by name, without secrets.  revoked: those that were revoked.  A
//  folder that is not there has none.
status_t certificate_list (const char *folder, bool revoked, array_t *out, error_t *error);

//  Moves a certificate to those that are revoked, and deletes its secret.  STATUS_NOT_FOUND where there is none.
status_t certificate_revoke (const char *folder, const char *name, error_t *error);

#endif
