// The architecture as data: the domains, their modules, and the allowed imports. The tests beside this file check every file against it;
// docs/ARCHITECTURE.md shows it.
export interface Domain {
  about: string
  /** The domains that it may import, with everything that those may import. */
  allowedImports: readonly string[]
  /**
   * Its modules with descriptions; a module may import those listed before it. `modules.ts` beside them imports all of them, and only the
   * process imports `modules.ts`. A domain without modules: its files may import each other.
   */
  modules: Readonly<Record<string, string>>
}

/** From the bottom up. */
export const domains = {
  platform: {
    about: 'knows nothing of health care, and of teams only their id',
    allowedImports: [],
    modules: {
      runtime: 'clock, ids, worker threads, loops, small caches, errors that say what the server answers; no database, no server',
      schema: 'building blocks of shapes, reading values with every fault found',
      db: 'transactions, statements, connections, cells, migrations, row-level security, leases of rows',
      telemetry: 'log and metrics, with nothing of a patient in either',
      crypto: 'vault, encrypted columns, signed tokens, the text of keys; not the owner of a key',
      'embedded-postgres': 'the PostgreSQL that comes with the program',
      files: "CSV, and what is refused of an operator's file",
      queue: 'events, jobs, the worker, retention; not where events are sent',
      'access-log': 'who has seen or changed the data of which patient: lines, their chain, the archive',
      net: 'which addresses may be reached, and which are trusted',
      http: 'operations, the server, errors, idempotency, cursors, limits, the description',
      sms: 'handing one text message to a gateway',
      mail: 'email outbox, sender, SMTP; not the text of an email',
      pdf: 'page, text, tables, barcodes; not what a document says',
      config: 'settings, read once at the start',
      module: 'the record of a module: what it contributes to the process',
    },
  },
  tenancy: {
    about: 'who owns what, and who may do it; no patient',
    allowedImports: ['platform'],
    modules: {
      organizations: 'name, plan, expiry, lock; not their teams',
      audit: 'reading the audit log and the access log',
      teams: 'teams in the control plane and in cells, settings, features, the reach of keys, roles, erasure',
      domains: 'white-label domains and the check of their DNS',
      keys: 'team keys, management keys, access tokens, the use of keys; not who is let in',
      members: 'members and invites',
      embedding: 'launch URLs, dashboard sessions, embedded members',
      access: 'guards: from headers to a tenant or a manager; issues nothing',
    },
  },
  people: {
    about: 'whom a team orders for and who vouches for them; not what was ordered or measured',
    allowedImports: ['tenancy'],
    modules: {
      person: 'shapes of name, address, guarantor, country; no table',
      users: 'users, demographics, deletion, names of sources',
      insurance: 'payors, diagnoses, insurances; not who is billed for an order',
      physicians: 'physicians of a team; not who signed an order',
    },
  },
  events: {
    about: 'where events go; only the process and the command line import it, and emitting is `platform/queue`',
    allowedImports: ['tenancy'],
    modules: {
      'fan-out': 'from outbox entries to destinations',
      catalog: 'types of events and their samples',
      feed: "a team's events in order, followed or listed",
      endpoints: 'webhook endpoints, headers, secrets, signature; sends nothing',
      'delivery-queue': 'what is due, batches, leases, the retry schedule; never the network',
      brokers: 'RabbitMQ, Event Hubs, Pub/Sub: configuration, queue, adapters',
      dispatch: 'webhooks in three parts: claim, send within limits, record outcomes',
      'delivery-log': 'messages, attempts, replay, the metric; sends nothing',
    },
  },
  lab: {
    about: 'from the catalog to the result; no appointment, no message to patients',
    allowedImports: ['people'],
    modules: {
      catalog: 'labs, markers, lab tests, order sets, prices, and the files that ship with them',
      'catalog-exchange': "an operator's catalog as one file, out and in",
      compendium: 'comparing what laboratories offer; only reads',
      links: 'adapters to laboratories, and the neutral records they speak; never an order',
      accounts: 'lab accounts, and which one an order goes under',
      orders: 'orders, lifecycles, lists, sending to a laboratory',
      testkits: 'kits, registration, shipments',
      documents: 'requisitions, labels, ABN, instructions; not the report of a result',
      results: 'result documents, ranges, critical results, the PDF of a report',
      'result-matching': 'incoming results, whose they are, reviews',
      fulfillment: 'the work list of the manual laboratory; changes orders through `orders`',
    },
  },
  wearables: {
    about: 'health data as it is kept and read; not how it arrives',
    allowedImports: ['people'],
    modules: {
      resources: 'the resources as data',
      queries: 'the query language and continuous queries',
    },
  },
  connections: {
    about: 'how health data arrives',
    allowedImports: ['wearables'],
    modules: {
      credentials: "a team's own credentials with providers, scopes",
      'pull-preferences': 'how far back',
      connections: "a user's connections and the providers",
    },
  },
  visits: {
    about: 'where and when a patient is drawn',
    allowedImports: ['lab'],
    modules: {
      geocoding: 'postal codes, distance, time zones, the geocoder',
      appointments: 'appointments, and what they mean to their order; not who offers times',
      psc: 'service centers: directory, search, import; not what is booked there',
      'psc-booking': 'schedules, availability, bookings at service centers',
      phlebotomy: 'at-home phlebotomy: staff, windows, bookings, adapters',
    },
  },
  ehr: {
    about: 'to and from health records',
    allowedImports: ['lab', 'wearables'],
    modules: { pipelines: 'where results are to be sent, kept and shown' },
  },
  notifications: {
    about: 'messages to patients',
    allowedImports: ['visits'],
    modules: {
      messages: 'kinds, words, settings, what was said; not when',
      reminders: 'of what was not done, and of appointments',
      'order-updates': 'listens to orders',
      sms: 'the sender of text messages',
    },
  },
  sandbox: {
    about: 'what only a sandbox has: laboratories and patients are simulated through the functions of production',
    allowedImports: ['lab', 'connections'],
    modules: {
      clock: 'the movable clock',
      simulator: 'simulated lives of orders',
      'unmatched-results': 'test results that match no order',
    },
  },
  app: {
    about: 'the process: everything put together',
    allowedImports: ['notifications', 'sandbox', 'ehr', 'events'],
    modules: {},
  },
  cli: { about: 'the command line, and the entry of the program', allowedImports: ['app'], modules: {} },
} as const satisfies Record<string, Domain>

/** An exception: a file that imports a module above its own. */
export interface Exception {
  from: string
  to: string
  /** How the exception will be removed. */
  until: string
}

const upward = (to: string, until: string, from: string[]): Exception[] => from.map((file) => ({ from: file, to, until }))

export const exceptions: readonly Exception[] = [
  ...upward('people/person', 'samples move to the modules that emit their events', ['events/catalog/sample-lab.ts']),
  ...upward('people/users', 'who looks up users is handed in, as `findDeletedUsers` is', ['events/delivery-log/messages.ts']),
]
