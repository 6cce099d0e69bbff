// What a perfect parser returns for a document of the corpus.

/** Upright, from the top left corner of the page, in points. */
export interface Box {
  page: number
  x: number
  y: number
  width: number
  height: number
}

export type Interpretation = 'normal' | 'abnormal' | 'critical' | 'unknown'

export interface TrueResult {
  test_name: string
  value: string
  units: string | null
  /** Undefined: the page leaves open what the range is (decision limits), so that it is not compared. */
  range: { min: number | null; max: number | null } | undefined
  /** All that are right. Undefined: not compared. */
  interpretations: Interpretation[] | undefined
  source_panel_name: string | null
  /** All that are right, the best one first. */
  loinc: string[]
  /** The notes on this result alone. Undefined: not compared. */
  comments?: string[] | undefined
  /** Where the value is printed, if it is in one piece. */
  box: Box | undefined
}

export interface TrueMetadata {
  patient_first_name: string | null
  patient_last_name: string | null
  dob: string | null
  gender: 'male' | 'female' | 'other'
  /** All that are right. */
  lab_name: string[]
  date_reported: string | null
  /** Undefined: not compared. */
  date_collected: string | null | undefined
  specimen_number: string | null
}

export interface Truth {
  metadata: TrueMetadata
  results: TrueResult[]
  /** Dates as printed, where the document leaves open which number is the month: a parser may return them as they are. */
  ambiguousDates: Record<string, string>
}
