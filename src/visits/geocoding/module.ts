import type { Module } from '../../platform/module/module.ts'
import { placeCleanups } from './postal-places.ts'

export const geocoding: Module = {
  name: 'visits/geocoding',
  about: 'postal codes, distance, time zones, the geocoder',
  tables: { others: ['geocoding_cache', 'postal_code_location'] },
  periodicTasks: placeCleanups,
}
