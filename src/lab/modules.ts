// The modules of laboratory testing, in dependency order.
import type { Module } from '../platform/module/module.ts'
import type { CoversCharacter } from '../platform/pdf/extra-fonts.ts'
import { labAccess } from './accounts/offered-labs.ts'
import { accounts } from './accounts/module.ts'
import { catalog } from './catalog/module.ts'
import { catalogExchange } from './catalog-exchange/module.ts'
import { compendium } from './compendium/module.ts'
import { documents, type DocumentDependencies } from './documents/module.ts'
import { fulfillment } from './fulfillment/module.ts'
import { links } from './links/module.ts'
import { orders } from './orders/module.ts'
import type { CountConnections } from './orders/orders.ts'
import { resultMatching } from './result-matching/module.ts'
import { results } from './results/module.ts'
import { testkits } from './testkits/module.ts'

type LabDependencies = DocumentDependencies & { countConnections: CountConnections; covers: CoversCharacter }

export const lab = (dependencies: LabDependencies): Module[] => [
  catalog(labAccess),
  catalogExchange,
  links,
  accounts(dependencies),
  compendium(),
  orders(dependencies),
  testkits(dependencies),
  documents(dependencies),
  results(dependencies),
  resultMatching,
  fulfillment(dependencies),
]
