// What came back of a trial: for each order the expected answer, the laboratory's answer and its results. As a page to print for the laboratory.
// Pure.
import { escapeHtml } from '../../platform/http/phone-page.ts'
import type { Static } from '../../platform/schema/schema.ts'
import { readOrderAnswer } from '../hl7/order-answer.ts'
import { answeredId } from '../link-transports/answered-messages.ts'
import { readMessage } from '../hl7/read-message.ts'
import type { LinkMessage } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import type { StoredTrialMessage } from './run-trial.ts'
import type { LinkTrial } from './schema.ts'
import type { ExpectedAnswer } from './trial-cases.ts'

export type TrialReport = Static<typeof LinkTrial>
export type TrialOutcome = TrialReport['outcomes'][number]

/** @param receivedMessages that came over the link in mode `test`, as bytes, oldest first */
export function judgeTrial(
  messages: readonly StoredTrialMessage[],
  receivedMessages: readonly Buffer[],
  profile: LinkProfile,
): TrialOutcome[] {
  const results = receivedMessages.flatMap((bytes) => readResults(bytes, profile))
  // Answers that came as files, or later on another connection; the last one counts.
  const answers = new Map(receivedMessages.map((bytes) => [answeredId(bytes), bytes]))
  return messages.map(({ bytes: _bytes, answer, error, created_at: _created_at, ...message }) => ({
    ...message,
    ...judgeAnswer(message.expected, answers.get(message.control_id) ?? answer, error, profile),
    received_tests: results
      .filter(({ numbers }) => numbers.placer?.includes(message.placer_number))
      .map(({ tests }) => tests.map(describeTest).join('; ')),
  }))
}

function readResults(bytes: Buffer, profile: LinkProfile): LinkMessage[] {
  try {
    const message = readMessage(bytes, profile)
    return message.kind === 'results' ? message.messages : []
  } catch {
    // A message that cannot be read is among the issues of the link.
    return []
  }
}

const describeTest = ({ code, status, observations }: LinkMessage['tests'][number]): string => {
  const statuses = Object.entries(Object.groupBy(observations, (observation) => observation.status ?? '-'))
  return `${code} ${status ?? '-'} (${statuses.map(([name, list]) => `${list!.length} ${name}`).join(', ') || 'no results'})`
}

type Judged = Pick<TrialOutcome, 'verdict' | 'answer' | 'text'>

function judgeAnswer(expected: ExpectedAnswer, answer: Buffer | null, error: string | null, profile: LinkProfile): Judged {
  if (!answer) return { verdict: error === null ? 'open' : 'different', answer: null, text: error }
  const { code, orders, text } = readOrderAnswer(answer, { charset: profile.text.charset })
  const controls = orders.map(({ control }) => control)
  const texts = [text, ...orders.map((order) => order.text)].filter((line) => line !== null)
  const isRefused = !['AA', 'CA'].includes(code) || controls.some((control) => ['UA', 'UC', 'UX'].includes(control))
  const isCancelled = controls.every((control) => control === 'CR' || control === 'OK')
  const fits = { accepted: !isRefused, refused: isRefused, cancelled: !isRefused && isCancelled }[expected]
  return { verdict: fits ? 'as_expected' : 'different', answer: [code, ...controls].join(', '), text: texts.join('\n') || null }
}

/** A page in HTML without scripts and without references to other files. */
export function printTrialReport({ laboratory, account_number, sent_at, outcomes }: TrialReport): string {
  const rows = outcomes.map(
    (outcome) => `<tr class="${outcome.verdict}">
<td>${outcome.position}</td>
<td><strong>${escapeHtml(outcome.name)}</strong><br>${escapeHtml(outcome.contents)}</td>
<td><code>${escapeHtml(outcome.placer_number)}</code><br><code>${escapeHtml(outcome.control_id)}</code></td>
<td>${outcome.expected}<br>${escapeHtml(outcome.results)}</td>
<td>${escapeHtml(outcome.answer ?? (outcome.sent_at === null ? 'not sent' : 'none'))}${outcome.text ? `<br>${escapeHtml(outcome.text)}` : ''}</td>
<td>${outcome.received_tests.map(escapeHtml).join('<br>') || 'none'}</td>
<td>${outcome.verdict.replace('_', ' ')}</td>
</tr>`,
  )
  const count = (verdict: TrialOutcome['verdict']) => outcomes.filter((outcome) => outcome.verdict === verdict).length
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Trial orders for ${escapeHtml(laboratory)}</title>
<style>
body { font: 10pt/1.4 sans-serif; margin: 2em; }
table { border-collapse: collapse; width: 100%; }
td, th { border: 1px solid #999; padding: 0.4em; text-align: left; vertical-align: top; }
tr { break-inside: avoid; }
.different td:last-child { font-weight: bold; }
</style>
<h1>Trial orders for ${escapeHtml(laboratory)}</h1>
<p>Account ${escapeHtml(account_number)}. Sent ${sent_at ?? 'never'}. All patients are fictional, and MSH-11 is T: no sample will come.</p>
<p>${count('as_expected')} answers as expected, ${count('different')} different, ${count('open')} open.</p>
<table>
<thead><tr><th></th><th>Order</th><th>Order number, control id</th><th>Expected</th><th>Answer</th><th>Results</th><th>Verdict</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</html>
`
}
