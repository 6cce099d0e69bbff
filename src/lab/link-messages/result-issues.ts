// What results of a message show of the profile of their link, for a person to look at. Codes that the catalog does not know: their results are
// stored as the laboratory wrote them, without the name, range and LOINC code that the catalog has; a person maps them. Numbers with another
// decimal mark than the profile says: they are shown as text; but if the profile is wrong, `1,234` of the same laboratory is read a thousand
// times too large or too small, and nothing else would tell.
import type { Queries } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import type { LinkMessage } from '../links/link-message.ts'
import { hasOtherMark } from '../links/link-texts.ts'
import type { LinkDelivery } from '../result-matching/incoming-result.ts'
import { reportIssue } from './issues.ts'

/** Codes of one message that are reported. */
const CODES_MAX = 20
/** Open issues of a link for codes; further ones are reported when these are done. */
const OPEN_MAX = 200

const Code = T.Object({ code: T.String(), name: T.String() })

/**
 * Lists an issue of the link for each result whose code is neither that of a marker of the laboratory nor has the LOINC code of an analyte, after the
 * profile has translated it. A code has one open issue. Writes lab_link_issue.
 */
export async function reportUnknownCodes(db: Queries, { lab_slug, link, report }: LinkDelivery): Promise<void> {
  const { results } = report
  if (results.length === 0) return
  const codes = await db.many(
    Code,
    sql`
    select given.code, min(given.name) as name
    from unnest(${results.map(({ provider_id }) => provider_id ?? '')}::text[], ${results.map(({ loinc }) => loinc ?? '')}::text[],
                ${results.map(({ name }) => name)}::text[]) as given (code, loinc, name)
    where given.code <> ''
      and not exists (select from marker m join lab l on l.id = m.lab_id where l.slug = ${lab_slug} and m.provider_id = given.code)
      and not exists (select from analyte a where a.loinc = given.loinc)
      and not exists (
        select from lab_link_issue i
        where i.link_account_id = ${link.account_id} and i.reason = 'unknown_code' and i.state = 'open' and i.source = 'code ' || given.code)
    group by given.code order by given.code
    limit least(${CODES_MAX}, greatest(0, ${OPEN_MAX} - (
      select count(*) from lab_link_issue
      where link_account_id = ${link.account_id} and reason = 'unknown_code' and state = 'open')))`,
  )
  for (const { code, name } of codes)
    await reportIssue(db, { reason: 'unknown_code', link_account_id: link.account_id, source: `code ${code}`, detail: name })
}

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
