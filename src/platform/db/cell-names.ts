// The cells there can be.
export const cellNames = ['sandbox-us', 'sandbox-eu', 'production-us', 'production-eu'] as const
/** Environment × region: the unit of storage and of a key's validity. */
export type CellName = (typeof cellNames)[number]
