// The modules of the platform with contributions to the process, from the bottom up.
import { accessLog, type AccessLogDependencies } from './access-log/module.ts'
import { db } from './db/module.ts'
import { http } from './http/module.ts'
import { mail, type MailDependencies } from './mail/module.ts'
import type { Module } from './module/module.ts'
import { queue } from './queue/module.ts'

export interface PlatformDependencies {
  accessLog: AccessLogDependencies
  mail: MailDependencies
}

export const platform = (dependencies: PlatformDependencies): Module[] => [
  db,
  queue,
  accessLog(dependencies.accessLog),
  http,
  mail(dependencies.mail),
]
