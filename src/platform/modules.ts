// The modules of the platform, from the bottom up.
import { accessLog } from './access-log/module.ts'
import { crypto } from './crypto/module.ts'
import { db } from './db/module.ts'
import { embeddedPostgres } from './embedded-postgres/module.ts'
import { files } from './files/module.ts'
import { http } from './http/module.ts'
import { mail, type MailDependencies } from './mail/module.ts'
import { module, type Module } from './module/module.ts'
import { net } from './net/module.ts'
import { pdf } from './pdf/module.ts'
import { queue } from './queue/module.ts'
import { runtime } from './runtime/module.ts'
import { schema } from './schema/module.ts'
import { sms } from './sms/module.ts'
import { storedFiles } from './stored-files/module.ts'
import type { StoredFiles } from './stored-files/stored-files.ts'
import { telemetry } from './telemetry/module.ts'

export interface PlatformDependencies {
  mail: MailDependencies
  storedFiles: StoredFiles
}

export const platform = (dependencies: PlatformDependencies): Module[] => [
  runtime,
  schema,
  db,
  telemetry,
  crypto,
  embeddedPostgres,
  files,
  queue,
  accessLog,
  net,
  storedFiles(dependencies.storedFiles),
  http,
  sms,
  mail(dependencies.mail),
  pdf,
  module,
]
