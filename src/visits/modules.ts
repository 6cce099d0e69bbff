// The modules of visits, from the bottom up.
import type { Vault } from '../platform/crypto/vault.ts'
import type { Module } from '../platform/module/module.ts'
import { appointments } from './appointments/module.ts'
import type { Geocode } from './geocoding/geocoder.ts'
import { placeCleanups } from './geocoding/postal-places.ts'
import { createCoverage } from './phlebotomy/phlebotomy-availability.ts'
import { phlebotomy } from './phlebotomy/module.ts'
import { PscDirectory } from './psc/directory.ts'
import { psc } from './psc/module.ts'
import type { PhlebotomyCoverage } from './psc/search.ts'
import { pscBooking } from './psc-booking/module.ts'
import { scheduledSites } from './psc-booking/schedules.ts'

export interface VisitDependencies {
  vault: Vault
  /** Finds the location of a postal code. */
  locate: Geocode
}

/** The directory of service centers does not import at-home phlebotomy; the coverage is passed to it here. */
const coverage: PhlebotomyCoverage = async (tx, { zip_code }) => (await createCoverage(tx, zip_code)).providers

export function visits({ vault, locate }: VisitDependencies): Module[] {
  const directory = new PscDirectory(scheduledSites)
  return [
    {
      name: 'visits/geocoding',
      about: 'postal codes, distance, time zones, the geocoder',
      tables: { others: ['geocoding_cache', 'postal_code_location'] },
      periodicTasks: placeCleanups,
    },
    appointments,
    psc({ directory, locate, coverage }),
    pscBooking({ directory, vault }),
    phlebotomy({ vault }),
  ]
}
