// Numbers that a laboratory writes with another decimal mark than the profile of its link says. They are shown as text; but if the profile is
// wrong, `1,234` of the same laboratory is read a thousand times too large or too small, and nothing else would tell.
import type { Queries } from '../../platform/db/transaction.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import type { LinkMessage } from '../links/link-message.ts'
import { hasOtherMark } from '../links/link-texts.ts'
import { reportIssue } from './issues.ts'

/** Lists an issue of the link, with the code of the first such result; it has one open issue. Writes lab_link_issue. */
export async function reportOtherMark(db: Queries, { tests }: LinkMessage, link: AccountLink): Promise<void> {
  const { decimal_mark } = link.profile.text
  const observations = tests.flatMap((test) => test.observations)
  const contradiction = observations.find(
    ({ value = '', value_kind, reference_range = '' }) =>
      (value_kind === undefined && hasOtherMark(value, decimal_mark)) || hasOtherMark(reference_range, decimal_mark),
  )
  if (!contradiction) return
  const { code, name } = contradiction
  await reportIssue(db, {
    reason: 'decimal_mark',
    link_account_id: link.account_id,
    source: 'decimal mark',
    detail: `${code} ${name}`.trim(),
  })
}
