// The architecture as data: the domains and the allowed imports between them. The modules of a domain are its folders; their records say what
// they are about, and the order of the records in modules.ts of the domain is the order of their imports. The tests next to this file check
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
  platform: { about: 'technical parts without health care', allowedImports: [] },
  settings: {
    about: 'settings of the program, and its cells',
    allowedImports: ['platform'],
    isFlat: true,
  },
  'lab-values': {
    about: 'meaning of the texts of a laboratory result: value, unit, range, flag, interpretation',
    allowedImports: [],
    isFlat: true,
  },
  tenancy: { about: 'organizations, teams, keys, permissions; no patients', allowedImports: ['settings'] },
  people: {
    about: 'users, insurance, physicians',
    allowedImports: ['tenancy'],
  },
  events: {
    about: 'delivery of events, which modules emit through `platform/queue`',
    allowedImports: ['tenancy'],
  },
  lab: {
    about: 'laboratory testing from the catalog to the result',
    allowedImports: ['people', 'lab-values'],
  },
  wearables: { about: 'stored health data and queries', allowedImports: ['people'] },
  'lab-reports': {
    about: 'parsing of uploaded reports',
    allowedImports: ['people', 'lab-values'],
  },
  connections: { about: 'sources of health data', allowedImports: ['wearables'] },
  visits: { about: 'appointments for sample collection', allowedImports: ['lab'] },
  ehr: { about: 'exchange with electronic health records', allowedImports: ['lab', 'wearables'] },
  notifications: { about: 'messages to patients', allowedImports: ['visits'] },
  sandbox: {
    about: 'features of sandboxes, built on the functions of production',
    allowedImports: ['lab', 'connections'],
  },
  console: {
    about: "what the console's pages need of several domains",
    allowedImports: ['notifications', 'sandbox', 'events', 'lab-reports'],
  },
  app: {
    about: 'the process, assembled from all modules',
    allowedImports: ['console', 'ehr'],
    isFlat: true,
  },
  cli: { about: 'the command line', allowedImports: ['app'], isFlat: true },
  testing: {
    about: 'a client for tests of other programs; imports nothing of the server',
    allowedImports: [],
    isFlat: true,
  },
} as const satisfies Record<string, Domain>
