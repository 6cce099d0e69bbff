// Questions a lab asks at order entry, and checks of their answers. Source: lab-testing.md 3.3.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { Question } from './schema.ts'

export interface AoeAnswer {
  marker_id: number
  question_id: number
  answer: string
}

const Row = T.Object({ marker_id: T.Integer(), aoe: Nullable(T.Object({ questions: T.Array(Question) })) })

/** An answer on fasting is never required: the lab test says whether fasting is. Only an answer says whether the patient has fasted. */
const FASTING = /^(FSTING|FASTING)$/i
const NUMBER = /^[+-]?\d{1,15}(\.\d{1,10})?$/

/**
 * Checks the answers for the markers of a lab test.
 * Errors: 400 a required question without an answer; an answer to an unknown question, with an unlisted code, or not a number.
 */
export async function validateAoeAnswers(tx: Tx, lab_test_id: string, answers: AoeAnswer[]): Promise<void> {
  const questions = (await tx.readCached(`questions ${lab_test_id}`, () => selectQuestions(tx, lab_test_id)))!
  for (const { marker_id, question_id, answer } of answers) {
    const question = questions.get(`${marker_id} ${question_id}`)
    if (!question) throw badRequest(`Marker ${marker_id} of this order has no question ${question_id}`)
    validateAnswer(question, answer)
  }
  const answered = new Set(answers.map(({ marker_id, question_id }) => `${marker_id} ${question_id}`))
  const missing = [...questions]
    .filter(([key, q]) => q.required && !FASTING.test(q.code) && !answered.has(key))
    .map(([, q]) => `"${q.value}"`)
  if (missing.length) throw badRequest(`Missing required questions - ${[...new Set(missing)].join(', ')}`)
}

/** The questions by marker and question id. */
async function selectQuestions(tx: Tx, lab_test_id: string): Promise<Map<string, Question>> {
  const markers = await tx.many(
    Row,
    sql`
    select m.id as marker_id, m.aoe from lab_test_marker tm join marker m on m.id = tm.marker_id
    where tm.team_id = ${tx.team} and tm.lab_test_id = ${lab_test_id} order by tm.position`,
  )
  return new Map(markers.flatMap(({ marker_id, aoe }) => (aoe?.questions ?? []).map((q) => [`${marker_id} ${q.id}`, q] as const)))
}

/** The codes of an answer: a question may have several. */
export const answerCodes = ({ type }: Question, answer: string): string[] =>
  type === 'multi_choice' ? answer.split(',').map((code) => code.trim()) : [answer]

function validateAnswer(question: Question, answer: string): void {
  if (question.type === 'numeric' && !NUMBER.test(answer.trim()))
    throw badRequest(`The answer to question ${question.id} must be a number`)
  if (question.type !== 'choice' && question.type !== 'multi_choice') return
  const codes = question.answers.map(({ code }) => code)
  if (!answerCodes(question, answer).every((code) => codes.includes(code)))
    throw badRequest(`The answer to question ${question.id} must be one of ${codes.join(', ')}`)
}

const [YES, NO] = [/^(?:y|yes|true|1)$/iu, /^(?:n|no|false|0)$/iu]

/** Whether the patient has fasted, by the given answers; null without an answer, and if answers contradict each other. Only reads. */
export async function fastingAnswer(tx: Tx, lab_test_id: string, answers: AoeAnswer[]): Promise<boolean | null> {
  if (answers.length === 0) return null
  const questions = (await tx.readCached(`questions ${lab_test_id}`, () => selectQuestions(tx, lab_test_id)))!
  const words = answers.flatMap(({ marker_id, question_id, answer }) => {
    const question = questions.get(`${marker_id} ${question_id}`)
    if (!question || !FASTING.test(question.code)) return []
    return [question.answers.find(({ code }) => code === answer)?.value ?? answer]
  })
  if (words.length === 0) return null
  if (words.every((word) => YES.test(word.trim()))) return true
  return words.every((word) => NO.test(word.trim())) ? false : null
}
