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
  platform: { about: 'knows nothing of health care, and of teams only their id', allowedImports: [] },
  tenancy: { about: 'who owns what, and who may do it; no patient', allowedImports: ['platform'] },
  people: {
    about: 'whom a team orders for and who vouches for them; not what was ordered or measured',
    allowedImports: ['tenancy'],
  },
  events: {
    about: 'where events go; only the process and the command line import it, and emitting is `platform/queue`',
    allowedImports: ['tenancy'],
  },
  lab: { about: 'from the catalog to the result; no appointment, no message to patients', allowedImports: ['people'] },
  wearables: { about: 'health data as it is kept and read; not how it arrives', allowedImports: ['people'] },
  'lab-reports': { about: 'reading uploaded reports; not the results of orders', allowedImports: ['people'] },
  connections: { about: 'how health data arrives', allowedImports: ['wearables'] },
  visits: { about: 'where and when a patient is drawn', allowedImports: ['lab'] },
  ehr: { about: 'to and from health records', allowedImports: ['lab', 'wearables'] },
  notifications: { about: 'messages to patients', allowedImports: ['visits'] },
  sandbox: {
    about: 'what only a sandbox has: laboratories and patients are simulated through the functions of production',
    allowedImports: ['lab', 'connections'],
  },
  app: {
    about: 'the process: everything put together',
    allowedImports: ['notifications', 'sandbox', 'ehr', 'events', 'lab-reports'],
    isFlat: true,
  },
  cli: { about: 'the command line, and the entry of the program', allowedImports: ['app'], isFlat: true },
} as const satisfies Record<string, Domain>
