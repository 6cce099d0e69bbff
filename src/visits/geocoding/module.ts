import type { Module } from '../../platform/module/module.ts'
import { placeCleanups } from './postal-places.ts'

export const geocoding: Module = {
  name: 'visits/geocoding',
  tables: { others: ['geocoded_place', 'postal_place'] },
  periodicTasks: placeCleanups,
}
