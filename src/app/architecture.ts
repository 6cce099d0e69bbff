// The architecture as data: the domains and the allowed imports between them. The modules of a domain are its folders; their records say what
// they are about, and the order of the records in modules.ts of the domain is the order of their imports. The tests beside this file check
// every file against it; docs/ARCHITECTURE.md shows it.
export interface Domain {
  about: string
  /** The domains that it may import, with everything that those may import. */
  allowedImports: readonly string[]
  /** It has no modules: its files may import each other. Default: false. */
  isFlat?: true
}

/** From the bottom up. */
export const domains = {
  platform: { about: 'technical parts without health care; of teams it knows only the id', allowedImports: [] },
  settings: {
    about: 'the settings of the program, and the cells that it can serve',
    allowedImports: ['platform'],
    isFlat: true,
  },
  'lab-values': {
    about: 'what the texts of a laboratory result mean: value, unit, range, flag, interpretation; neither teams nor a database',
    allowedImports: [],
    isFlat: true,
  },
  tenancy: { about: 'organizations, teams, keys and permissions; no patients', allowedImports: ['settings'] },
  people: {
    about: 'users, insurance and physicians of teams; not what was ordered or measured',
    allowedImports: ['tenancy'],
  },
  events: {
    about: 'delivery of events; modules emit events through `platform/queue` and do not import this domain',
    allowedImports: ['tenancy'],
  },
  lab: {
    about: 'laboratory testing from the catalog to the result; no appointments, no messages to patients',
    allowedImports: ['people', 'lab-values'],
  },
  wearables: { about: 'stored health data and queries; not how it arrives', allowedImports: ['people'] },
  'lab-reports': {
    about: 'parsing of uploaded reports; not the results of orders',
    allowedImports: ['people', 'lab-values'],
  },
  connections: { about: 'sources of health data: credentials, preferences, connections', allowedImports: ['wearables'] },
  visits: { about: 'appointments for sample collection: places and times', allowedImports: ['lab'] },
  ehr: { about: 'exchange with electronic health records', allowedImports: ['lab', 'wearables'] },
  notifications: { about: 'messages to patients', allowedImports: ['visits'] },
  sandbox: {
    about: 'features of sandboxes: laboratories and patients are simulated through the functions of production',
    allowedImports: ['lab', 'connections'],
  },
  app: {
    about: 'the process, assembled from all modules',
    allowedImports: ['notifications', 'sandbox', 'ehr', 'events', 'lab-reports'],
    isFlat: true,
  },
  cli: { about: 'the command line and the entry point of the program', allowedImports: ['app'], isFlat: true },
  testing: {
    about: 'a client for tests of other programs, which imports nothing of the server and no packages',
    allowedImports: [],
    isFlat: true,
  },
} as const satisfies Record<string, Domain>
