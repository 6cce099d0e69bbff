import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const fulfillment = (dependencies: { cells: Cells }): Module => ({
  name: 'lab/fulfillment',
  about: 'manual fulfillment: the work queue and the actions of staff; changes orders through `orders`',
  tag: 'fulfillment',
  operations: routes(dependencies),
})
