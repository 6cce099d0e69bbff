import { operation, type Operation } from '../../platform/http/operation.ts'
import { convertCompendium, searchCompendium, searchOrderableTests } from './compendium.ts'
import { CompendiumCache } from './index-builder.ts'
import * as shapes from './schema.ts'

const search = { logsAccess: false, method: 'POST', reads: true } as const

export function compendiumRoutes(): Operation[] {
  const compendiums = new CompendiumCache()
  return [
    operation({
      ...search,
      id: 'search_compendium',
      path: '/v3/compendium/search',
      summary: 'Search the compendium',
      description:
        '`canonical` finds sets of LOINC codes by a name; `crosswalk` takes one set, by name or hash, and finds it at each laboratory.',
      body: shapes.SearchCompendium,
      reply: shapes.SearchCompendiumReply,
      example: { mode: 'crosswalk', query: 'basic metabolic panel', labs: ['quest', 'labcorp'] },
      run: (tx, { body }) => searchCompendium(tx, compendiums, body),
    }),
    operation({
      ...search,
      id: 'convert_compendium',
      path: '/v3/compendium/convert',
      summary: 'Convert a lab test or test codes to another laboratory',
      body: shapes.ConvertCompendium,
      reply: shapes.ConvertCompendiumReply,
      example: { lab_test_id: '01890000-0000-7000-8000-000000000001', target_lab: 'labcorp' },
      run: (tx, { body }) => convertCompendium(tx, compendiums, body),
    }),
    operation({
      ...search,
      id: 'search_orderable_tests',
      path: '/v3/compendium/search_orderable_tests',
      summary: 'Search orderable tests of a laboratory for codes of other laboratories',
      body: shapes.SearchOrderableTests,
      reply: shapes.SearchOrderableTestsReply,
      example: { provider_ids: ['Q55122'], target_lab: 'labcorp' },
      run: (tx, { body }) => searchOrderableTests(tx, compendiums, body),
    }),
  ]
}
