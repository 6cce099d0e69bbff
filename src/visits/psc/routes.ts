import type { Geocode } from '../geocoding/geocoder.ts'
import { operation, multiTransactionOperation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import type { PscDirectory } from './directory.ts'
import { AreaInfo, AreaQuery, OrderPscQuery, PscInfo, PscQuery } from './schema.ts'
import { areaInfo, orderPscInfo, pscInfo, type PhlebotomyCoverage } from './search.ts'

/** Dependencies of these operations. */
export interface PscDependencies {
  directory: PscDirectory
  locate: Geocode
  coverage: PhlebotomyCoverage
}

export const pscRoutes = ({ directory, locate, coverage }: PscDependencies) => [
  operation({
    id: 'get_area_info',
    logsAccess: false,
    method: 'GET',
    path: '/v3/order/area/info',
    summary: 'Get area coverage for a ZIP code',
    description: 'A lab without sites in the radius is omitted unless it is requested by name.',
    query: AreaQuery,
    reply: AreaInfo,
    run: (tx, { query }) => areaInfo(tx, directory, coverage, query),
  }),
  operation({
    id: 'get_psc_info',
    logsAccess: false,
    method: 'GET',
    path: '/v3/order/psc/info',
    summary: 'List the patient service centers of a lab near a ZIP code',
    description: 'Nearest first, at most 30. With `lab_account_id` only the sites and billing types of that account.',
    query: PscQuery,
    reply: PscInfo,
    run: (tx, { query }) => pscInfo(tx, directory, query),
  }),
  multiTransactionOperation({
    id: 'get_order_psc_info',
    logsAccess: true,
    method: 'GET',
    path: '/v3/order/{order_id}/psc/info',
    summary: "List the patient service centers of an order's lab near its patient",
    description: 'Nearest first, at most 30.',
    params: Fields({ order_id: Uuid }),
    query: OrderPscQuery,
    reply: PscInfo,
    run: (context, { params, query }) => orderPscInfo(context, directory, locate, params.order_id, query),
  }),
]
