// What every connector needs: its interface, tokens, and reading what a vendor answers.
export * from './answers.ts'
export * from './connector.ts'
export * from './electrocardiograms.ts'
export * from './reading.ts'
export * from './records.ts'
export * from './tokens.ts'
