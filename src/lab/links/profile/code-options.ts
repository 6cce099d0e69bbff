import { Fields, Maybe, T, Text } from '../../../platform/schema/schema.ts'
import { OptionGroup, TextMap } from './option-types.ts'

const code = Text({ minLength: 1, maxLength: 200 })

const ResultCode = Fields(
  {
    code,
    provider_id: Maybe(Text({ minLength: 1, maxLength: 200, description: 'Id of the analyte in the catalog.' })),
    loinc: Maybe(Text({ pattern: '^[0-9]{1,7}-[0-9]$', says: 'be a LOINC code' })),
    unit: Maybe(Text({ maxLength: 200, description: 'Unit of results without one.' })),
  },
  { additionalProperties: false },
)

export const CodeOptions = OptionGroup(
  {
    tests: TextMap('Code of a test of the laboratory, and the `provider_id` of its marker in the catalog, if they differ.'),
    results: T.Array(ResultCode, { maxItems: 10_000, default: [], description: 'Result codes of the laboratory.' }),
    units: TextMap('Units of the laboratory, and how they are shown.'),
  },
  'Codes of the laboratory.',
)
