// Words of the database as enumerators. The other way is in the public headers
// (cadre_frame_status_name and the like). A word that is not known gives 0.
//
// Thread: any.
#ifndef CDR_SQLITE_NAMES_H
#define CDR_SQLITE_NAMES_H

#include "cadre/call.h"
#include "cadre/message.h"

cadre_frame_status cdr_sqlite_frame_status(const char *name);
cadre_stop_reason cdr_sqlite_stop_reason(const char *name);
cadre_role cdr_sqlite_role(const char *name);
cadre_result_code cdr_sqlite_result_code(const char *name);

#endif
