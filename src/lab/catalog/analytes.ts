// The results of markers: definitions of analytes and their normal limits. Not part of the API; results are built from them.
import { Nullable, T, type Static, type TSchema } from '../../platform/schema/schema.ts'
import { MarkerType } from './enums.ts'

/** The limits of a definition, each in the given form. */
export const bounds = <S extends TSchema>(limit: S) => ({
  low: limit,
  high: limit,
  low_female: limit,
  high_female: limit,
  low_male: limit,
  high_male: limit,
  critical_low: limit,
  critical_high: limit,
})

/** The form of an analyte's values and its normal limits. If the limits depend on sex, each sex has its own. */
export const AnalyteDefinition = T.Object({
  type: T.Union([T.Literal('numeric'), T.Literal('range'), T.Literal('comment'), T.Literal('coded_value')]),
  unit: Nullable(T.String()),
  decimals: Nullable(T.Integer()),
  ...bounds(Nullable(T.Number())),
  range_text: Nullable(T.String()),
  specimen: Nullable(T.String()),
  description: Nullable(T.String()),
})
export type AnalyteDefinition = Static<typeof AnalyteDefinition>

export const ExpectedMarker = T.Object({
  marker_id: T.Integer(),
  name: T.String(),
  slug: T.String(),
  provider_id: T.String(),
  type: MarkerType,
  lab_id: T.Integer(),
  expected: T.Array(
    T.Object({
      name: T.String(),
      slug: T.String(),
      loinc: Nullable(T.String()),
      loinc_name: Nullable(T.String()),
      required: T.Boolean(),
      definition: AnalyteDefinition,
    }),
  ),
})
export type ExpectedMarker = Static<typeof ExpectedMarker>
