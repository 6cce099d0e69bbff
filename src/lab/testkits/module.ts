import type { Module } from '../../platform/module/module.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { routes } from './routes.ts'

export const testkits = ({ covers }: { covers: CoversCharacter }): Module => ({
  name: 'lab/testkits',
  about: 'kits, registration, shipments',
  tag: 'testkits',
  operations: routes(covers),
})
