// The parts of a message with results: patients, their orders, and ordered tests with what is reported below them.
import type { Hl7Segment } from './hl7-message.ts'

export interface NotedSegment {
  segment: Hl7Segment
  /** NTE segments that follow. */
  notes: Hl7Segment[]
}

/** An ordered test with what is reported below it. */
export interface TestGroup {
  request: Hl7Segment
  order: Hl7Segment | undefined
  notes: Hl7Segment[]
  observations: NotedSegment[]
  specimens: Hl7Segment[]
  containers: Hl7Segment[]
  /** Observations of the specimen itself. */
  specimenObservations: NotedSegment[]
}

export interface PatientGroup {
  patient: Hl7Segment | undefined
  notes: Hl7Segment[]
  tests: TestGroup[]
  /** Documents before any test, and segments ZEF. */
  documents: Hl7Segment[]
}

export interface OrderGroup extends PatientGroup {
  /** The first of our numbers; `''` if the message names none. */
  number: string
}
