// The modules of the platform, from the bottom up.
import { accessCleanups } from './access-log/access-archive.ts'
import { eraseTables } from './db/erasure.ts'
import { idempotencyCleanup } from './http/idempotency.ts'
import { mail, type MailDependencies } from './mail/module.ts'
import type { Module } from './module/module.ts'
import type { StoredFiles } from './stored-files/stored-files.ts'

export interface PlatformDependencies {
  mail: MailDependencies
  storedFiles: StoredFiles
}

export const platform = (dependencies: PlatformDependencies): Module[] => [
  {
    name: 'platform/runtime',
    about: 'clock, ids, worker threads, loops, small caches, errors with their response; no database, no server',
  },
  {
    name: 'platform/schema',
    about: 'building blocks of schemas, and validation that finds every error of a value',
  },
  {
    name: 'platform/db',
    about: 'transactions, statements, connections, cells, migrations, row-level security, leases of rows, counts of lists',
    tables: { ofTeams: ['list_count'], others: ['migration', 'readiness'] },
    erasers: { team: eraseTables('list_count') },
  },
  {
    name: 'platform/telemetry',
    about: 'log and metrics, both without personal data',
  },
  {
    name: 'platform/crypto',
    about: 'vault, encrypted columns, signed tokens, the text of keys; not the owner of a key',
  },
  {
    name: 'platform/embedded-postgres',
    about: 'the PostgreSQL server shipped with the program',
  },
  {
    name: 'platform/files',
    about: "CSV, and the rejected rows of an operator's file",
  },
  {
    name: 'platform/queue',
    about: 'events, jobs, the worker, retention; not where events are sent',
    tables: { ofTeams: ['event'], others: ['event_outbox', 'event_subscribed_team', 'job'] },
    erasers: { team: eraseTables('event_outbox', 'event_subscribed_team', 'event', 'job') },
  },
  {
    name: 'platform/access-log',
    about: 'the record of who read or changed the data of which person: lines, their hash chain, the archive',
    tables: { views: ['access_log_of_team'], others: ['access_day', 'access_line', 'access_log', 'access_log_retention'] },
    periodicTasks: accessCleanups,
  },
  {
    name: 'platform/net',
    about: 'addresses that may be called, requests to them, and trusted proxies',
  },
  {
    name: 'platform/stored-files',
    about: 'files of other modules, on disk, in an object store or in the database. Not what they hold, nor their encryption',
    tables: { others: ['stored_file'] },
    periodicTasks: [dependencies.storedFiles.cleanup],
    services: [{ start: () => {}, stop: () => dependencies.storedFiles.close() }],
  },
  {
    name: 'platform/http',
    about: 'operations, the server, errors, idempotency, cursors, limits, the OpenAPI document',
    tables: { ofTeams: ['idempotency_key'], others: ['audit_log'] },
    periodicTasks: [idempotencyCleanup],
    erasers: { team: eraseTables('idempotency_key') },
  },
  {
    name: 'platform/sms',
    about: 'sends one text message to a gateway',
  },
  mail(dependencies.mail),
  {
    name: 'platform/pdf',
    about: 'page, text, tables, barcodes; not the content of a document',
  },
  {
    name: 'platform/module',
    about: 'the record of a module: what it contributes to the process',
  },
]
