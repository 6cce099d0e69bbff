// Queries for sites near a location. Source: lab-testing.md 16.
import { billingOffered, usableAccount, type UsableAccount } from '../../lab/accounts/account-selection.ts'
import { isOffered } from '../../lab/accounts/offered-labs.ts'
import { getOrder } from '../../lab/orders/orders.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, notFound } from '../../platform/http/errors.ts'
import type { MultiTransactionContext } from '../../platform/http/operation.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import type { Geocode } from '../geocoding/geocoder.ts'
import { findPlace, type Place } from '../geocoding/postal-places.ts'
import { UNITED_STATES } from '../../people/person/countries.ts'
import { capabilitySet, isBookable, shownCapabilities, type LabSites, type PscDirectory } from './directory.ts'
import { type AreaInfo, type AreaQuery, type LabInArea, type OrderPscQuery, type PscInfo, type PscQuery } from './schema.ts'
import type { DirectoryHead } from './sites.ts'

/** Maximum number of sites in a response. */
const SITES_MAX = 30

/** A provider of at-home phlebotomy and its service types. */
interface PhlebotomyProvider {
  name: string
  service_types: string[]
}

/** Returns the providers of at-home phlebotomy in an area. A module above, which manages visits, supplies this function. */
export type PhlebotomyCoverage = (
  tx: Tx,
  area: { zip_code: string; radius_miles: number; place: Place },
) => Promise<PhlebotomyProvider[]>

/** Returns sites of a lab near a ZIP code, at most 30. Errors: 404 no account that the team may use; 422 unknown lab. */
export async function pscInfo(tx: Tx, directory: PscDirectory, query: PscQuery): Promise<PreserializedJson<PscInfo>> {
  const account = await findNamedAccount(tx, query.lab_account_id)
  const head = (await directory.labs(tx)).get(query.lab_id)
  if (!head || !(await isOffered(tx, head.lab_id))) throw invalidField(['query', 'lab_id'], 'lab not found')
  const opens = !account || account.lab_id === head.lab_id
  const place = opens ? await findPlace(tx, { country: 'US', postal_code: query.zip_code }) : undefined
  return sitesNear(tx, directory, head, place, query, account)
}

/**
 * Returns sites of an order's lab near its patient, at most 30. Errors: 400 the order has no patient address yet; 404 unknown order.
 * This function may query a geocoder for an unknown place, so it does not run in a transaction.
 */
export async function orderPscInfo(
  { tenant, cells }: MultiTransactionContext,
  directory: PscDirectory,
  locate: Geocode,
  order_id: string,
  query: OrderPscQuery,
): Promise<PreserializedJson<PscInfo>> {
  const db = cells.db(tenant.cell)
  const { patient_address, lab_test } = await db.read(tenant, (tx) => getOrder(tx, order_id))
  if (!patient_address) throw badRequest('The order has no patient address yet')
  const { country, zip, city } = patient_address
  const place = await locate(db, { country, postal_code: zip, city })
  return db.read(tenant, async (tx) => {
    const head = lab_test.lab && (await directory.labs(tx)).get(lab_test.lab.id)
    if (!head) throw badRequest('The order has no laboratory')
    return sitesNear(tx, directory, head, place, query)
  })
}

async function findNamedAccount(tx: Tx, lab_account_id: string | undefined): Promise<UsableAccount | undefined> {
  if (lab_account_id === undefined) return undefined
  const account = await usableAccount(tx, lab_account_id)
  if (!account) throw notFound('lab account not found')
  return account
}

async function sitesNear(
  tx: Tx,
  directory: PscDirectory,
  { lab_id, slug }: DirectoryHead,
  place: Place | undefined,
  { radius = '25', capabilities = [] }: OrderPscQuery,
  account?: UsableAccount,
): Promise<PreserializedJson<PscInfo>> {
  const sites = place && (await directory.sites(tx, lab_id))
  const billed = account && place && billingTypesUnder(account, place)
  const found = sites?.answer(place!, Number(radius), capabilitySet(capabilities), SITES_MAX, billed) ?? '[]'
  return new PreserializedJson(`{"lab_id":${lab_id},"slug":${JSON.stringify(slug)},"patient_service_centers":${found}}`)
}

/** Returns the billing types of a site that an account offers to a patient in this state. */
function billingTypesUnder(account: UsableAccount, { state }: Place): (types: readonly string[]) => readonly string[] {
  const offered = new Set(billingOffered(account, { state, country: UNITED_STATES }))
  return (types) => types.filter((type) => offered.has(type))
}

/** Returns the coverage of a ZIP code: at-home phlebotomy, and labs with sites nearby. Errors: 404 no account that the team may use. */
export async function areaInfo(
  tx: Tx,
  directory: PscDirectory,
  coverage: PhlebotomyCoverage,
  { zip_code, radius = '25', lab, labs = [], lab_account_id }: AreaQuery,
): Promise<AreaInfo> {
  const account = await findNamedAccount(tx, lab_account_id)
  const place = await findPlace(tx, { country: 'US', postal_code: zip_code })
  if (!place) return { zip_code, phlebotomy: { is_served: false, providers: [] }, central_labs: {} }
  const providers = await coverage(tx, { zip_code, radius_miles: Number(radius), place })
  const requestedLabs = new Set<string>(lab === undefined ? labs : [lab, ...labs])
  const central_labs: Record<string, LabInArea> = {}
  for (const head of (await directory.labs(tx)).values()) {
    // The version of a lab without any site is 0.
    if (!(requestedLabs.size ? requestedLabs.has(head.slug) : head.version) || !(await isOffered(tx, head.lab_id))) continue
    const sites = (await directory.sites(tx, head.lab_id))!
    const isOpen = !account || account.lab_id === head.lab_id
    const found = labInArea(head, sites, isOpen ? place : undefined, radius, account)
    if (found.patient_service_centers.within_radius || requestedLabs.has(head.slug)) central_labs[head.slug] = found
  }
  return {
    zip_code,
    phlebotomy: {
      is_served: providers.length > 0,
      providers: providers.map((provider) => ({ ...provider, tier: provider.service_types })),
    },
    central_labs,
  }
}

function labInArea(
  { lab_id }: DirectoryHead,
  sites: LabSites,
  place: Place | undefined,
  radius: string,
  account: UsableAccount | undefined,
): LabInArea {
  const near = place ? sites.inRadius(place, Number(radius)) : []
  const set = near.reduce((capabilities, index) => capabilities | sites.capabilities[index]!, 0)
  const types = [...new Set(near.flatMap((index) => sites.bill_types[index]!))].sort()
  return {
    patient_service_centers: {
      appointment_with_vital: isBookable(set),
      within_radius: near.length,
      radius,
      capabilities: shownCapabilities(set) as LabInArea['patient_service_centers']['capabilities'],
    },
    supported_bill_types: (account && place
      ? billingTypesUnder(account, place)(types)
      : types) as LabInArea['supported_bill_types'],
    lab_id,
  }
}
