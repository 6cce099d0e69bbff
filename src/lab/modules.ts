// The modules of laboratory testing, in dependency order.
import type { Module } from '../platform/module/module.ts'
import type { CoversCharacter } from '../platform/pdf/extra-fonts.ts'
import { labAccess } from './accounts/offered-labs.ts'
import { accounts } from './accounts/module.ts'
import { catalog } from './catalog/module.ts'
import { compendiumRoutes } from './compendium/routes.ts'
import { documents, type DocumentDependencies } from './documents/module.ts'
import { fulfillmentRoutes } from './fulfillment/routes.ts'
import { linkTransports, type LinkTransportDependencies } from './link-transports/module.ts'
import { linkOnboarding } from './link-onboarding/module.ts'
import { linkOrders } from './link-orders/module.ts'
import { linkShadow } from './link-shadow/module.ts'
import { orders } from './orders/module.ts'
import type { CountConnections } from './orders/orders.ts'
import { resultMatching } from './result-matching/module.ts'
import { linkMessages, type LinkMessagesDependencies } from './link-messages/module.ts'
import { labResults } from './results/module.ts'
import { testkitsRoutes } from './testkits/routes.ts'

type LabDependencies = DocumentDependencies &
  LinkTransportDependencies &
  LinkMessagesDependencies & { countConnections: CountConnections; covers: CoversCharacter }

export const lab = (dependencies: LabDependencies): Module[] => [
  catalog(labAccess),
  {
    name: 'lab/catalog-exchange',
    about: 'export and import of the catalog',
  },
  {
    name: 'lab/links',
    about: 'adapters to laboratories, and their neutral records',
  },
  {
    name: 'lab/hl7',
    about: 'reading and writing of messages of HL7 version 2',
  },
  accounts(dependencies),
  {
    name: 'lab/compendium',
    about: 'comparison of the tests of laboratories',
    tag: 'catalog',
    operations: compendiumRoutes(),
  },
  orders(dependencies),
  {
    name: 'lab/testkits',
    about: 'kits, registration, shipments',
    tag: 'testkits',
    operations: testkitsRoutes(dependencies.covers),
  },
  documents(dependencies),
  labResults(dependencies),
  resultMatching,
  linkShadow,
  linkMessages(dependencies),
  linkOrders,
  linkTransports(dependencies),
  linkOnboarding(dependencies),
  {
    name: 'lab/fulfillment',
    about: 'manual fulfillment: work queue, actions of staff',
    tag: 'fulfillment',
    operations: fulfillmentRoutes(dependencies),
  },
]
