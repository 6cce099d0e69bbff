// The modules of the platform, from the bottom up.
import { accessCleanups } from './access-log/log-retention.ts'
import { eraseTables } from './db/erasure.ts'
import { idempotencyCleanup } from './http/idempotency.ts'
import { mail, type MailDependencies } from './mail/module.ts'
import type { Module } from './module/module.ts'
import { eventCleanup } from './queue/event-retention.ts'
import type { StoredFiles } from './stored-files/stored-files.ts'

export interface PlatformDependencies {
  mail: MailDependencies
  storedFiles: StoredFiles
}

export const platform = (dependencies: PlatformDependencies): Module[] => [
  {
    name: 'platform/runtime',
    about: 'clock, ids, worker threads, loops, caches, errors',
  },
  {
    name: 'platform/schema',
    about: 'building blocks of schemas, validation',
  },
  {
    name: 'platform/db',
    about: 'transactions, connections, migrations, row-level security, leases, counts of lists',
    tables: { ofTeams: ['list_count'], others: ['migration', 'readiness'] },
    erasers: { team: eraseTables('list_count') },
  },
  {
    name: 'platform/telemetry',
    about: 'log and metrics, without personal data',
  },
  {
    name: 'platform/crypto',
    about: 'vault, encrypted columns, signed tokens, texts of keys',
  },
  {
    name: 'platform/embedded-postgres',
    about: 'the bundled PostgreSQL',
  },
  {
    name: 'platform/files',
    about: 'CSV, and rejected rows of files',
  },
  {
    name: 'platform/queue',
    about: 'events, jobs, the worker, retention',
    tables: { ofTeams: ['event', 'event_body'], others: ['event_outbox', 'event_subscribed_team', 'job'] },
    periodicTasks: [eventCleanup],
    erasers: { team: eraseTables('event_outbox', 'event_subscribed_team', 'event_body', 'event', 'job') },
  },
  {
    name: 'platform/net',
    about: 'outgoing requests, allowed addresses, trusted proxies',
  },
  {
    name: 'platform/stored-files',
    about: 'files of other modules, on disk, in an object store or in the database',
    tables: { others: ['stored_file'] },
    periodicTasks: [dependencies.storedFiles.cleanup],
    services: [{ start: () => {}, stop: () => dependencies.storedFiles.close() }],
  },
  {
    name: 'platform/access-log',
    about: 'the access log: lines, hash chain, archive',
    tables: {
      views: ['access_log_of_team'],
      others: ['access_archive', 'access_archive_lease', 'access_day', 'access_line', 'access_log', 'access_log_retention'],
    },
    periodicTasks: accessCleanups(dependencies.storedFiles),
  },
  {
    name: 'platform/http',
    about: 'operations, server, idempotency, cursors, limits, OpenAPI document',
    tables: { ofTeams: ['idempotency_key'], others: ['audit_log'] },
    periodicTasks: [idempotencyCleanup],
    erasers: { team: eraseTables('idempotency_key') },
  },
  {
    name: 'platform/sms',
    about: 'the gateway for text messages',
  },
  mail(dependencies.mail),
  {
    name: 'platform/pdf',
    about: 'page, text, tables, barcodes',
  },
  {
    name: 'platform/module',
    about: 'the record of a module',
  },
]
