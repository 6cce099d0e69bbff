// The names of all possible cells.
export const cellNames = ['sandbox-us', 'sandbox-eu', 'production-us', 'production-eu'] as const
/** Environment × region: the unit of storage, and the scope in which a key is valid. */
export type CellName = (typeof cellNames)[number]

export const isSandboxCell = (cell: CellName): boolean => cell.startsWith('sandbox-')
