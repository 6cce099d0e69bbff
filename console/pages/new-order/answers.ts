// Answers to the questions that the laboratory asks at order entry, as the form has them and as a request has them.
import { ApiError } from '../../api/api-error.ts'
import type { components } from '../../api/schema.d.ts'

type Marker = components['schemas']['Marker']
export type Question = components['schemas']['Question']
export type AoeAnswer = NonNullable<components['schemas']['CreateOrder']['aoe_answers']>[number]

/** Question (`questionKey`) → answer: a text, a number or the code of a choice; of a question with several choices, their codes. */
export type Answers = Readonly<Record<string, string | readonly string[]>>

export const questionKey = (marker_id: number, question_id: number): string => `${marker_id} ${question_id}`

/** The questions of a marker in the order in which the laboratory asks them. */
export const questionsOf = ({ aoe }: Marker): Question[] =>
  (aoe?.questions ?? []).toSorted((first, second) => first.sequence - second.sequence)

/** The API takes an order without an answer on fasting: the lab test says whether fasting is required. */
const FASTING = /^(FSTING|FASTING)$/i
export const isRequired = ({ required, code }: Question): boolean => required && !FASTING.test(code)

/** The answers that were written, in the order of the questions. Answers to questions of other tests are left out. */
export const toAoeAnswers = (markers: readonly Marker[], answers: Answers): AoeAnswer[] =>
  markers.flatMap((marker) =>
    questionsOf(marker).flatMap(({ id }) => {
      const value = answers[questionKey(marker.id, id)] ?? ''
      const answer = (typeof value === 'string' ? value : value.join(',')).trim()
      return answer ? [{ marker_id: marker.id, question_id: id, answer }] : []
    }),
  )

/** What the API says is wrong with an answer of a request, by question. The API names an answer by its place. */
export function answerFaults(error: Error | null, aoe_answers: readonly AoeAnswer[]): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  for (const { field, message } of error instanceof ApiError ? error.fields : []) {
    const answer = aoe_answers[Number(/^body\.aoe_answers\.(\d+)(\.|$)/.exec(field)?.[1] ?? -1)]
    if (answer) faults.set(questionKey(answer.marker_id, answer.question_id), message)
  }
  return faults
}
