// The modules of the platform that contribute something to the process, from the bottom up.
import { accessLog, type AccessLogNeeds } from './access-log/module.ts'
import { db } from './db/module.ts'
import { http } from './http/module.ts'
import { mail, type MailNeeds } from './mail/module.ts'
import type { Module } from './module/module.ts'
import { queue } from './queue/module.ts'

export interface PlatformNeeds {
  accessLog: AccessLogNeeds
  mail: MailNeeds
}

export const platform = (needs: PlatformNeeds): Module[] => [db, queue, accessLog(needs.accessLog), http, mail(needs.mail)]
