// The architecture, as data. A module uses platform, wire, and the modules on its line; those all stand above it.
export const uses = {
  management: [],
  ehr: ['management'],
  users: [],
  catalog: ['management'],
  webhooks: [],
  labs: ['management', 'catalog'],
  connections: ['management'],
  wearables: [],
  pipelines: ['management', 'webhooks'],
  orders: ['users', 'catalog', 'labs'],
  testkits: ['users', 'orders'],
  results: ['users', 'catalog', 'labs', 'orders'],
  matching: ['management', 'users', 'catalog', 'labs', 'orders', 'results'],
  simulator: ['management', 'users', 'catalog', 'labs', 'orders', 'testkits', 'results', 'matching'],
} as const satisfies Record<string, readonly string[]>
