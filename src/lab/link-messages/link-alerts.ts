// Tells people once that a link fails, and once that it works again: by mail to the administrators of its organization and to the operator,
// and by a line of the log. A link that fails for less than a minute is not reported. While a failure is reported, the issue `link_down` is
// open: it and the mails are of one transaction, so that several processes report a failure once.
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow } from '../../platform/db/leases.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import type { Service } from '../../platform/module/module.ts'
import { QueueLoop } from '../../platform/queue/queue-loop.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'

const POLL_MS = 15_000
/** How long a link must be in a state until it is reported. */
const SETTLED_S = 60
/** Links that are reported in one round. */
const LINKS_MAX = 100

export interface LinkAlertOptions {
  cells: Cells
  log: Log
  settings: { lab_alert_email: string }
}

const ChangedLink = T.Object({
  account_id: T.String(),
  org_id: Nullable(T.String()),
  lab: T.String(),
  reason: Nullable(T.String()),
  at: T.String(),
})
type ChangedLink = Static<typeof ChangedLink>

const Member = T.Object({ email: T.String() })

/** Reports the links of the cells of this process. */
export class LinkAlerts implements Service {
  readonly #options: LinkAlertOptions
  readonly #loops: QueueLoop[]

  constructor(options: LinkAlertOptions) {
    const { cells, log } = options
    this.#options = options
    this.#loops = cells.names.map(
      (cell) =>
        new QueueLoop({
          round: () => this.runOnce(cell),
          poll_ms: POLL_MS,
          pace_ms: 1000,
          onError: (error) => log.error({ cell, causes: errorFields(error) }, 'reporting links failed; will retry'),
        }),
    )
  }

  start(): void {
    for (const loop of this.#loops) loop.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()))
  }

  /** Reports the links of a cell whose state has changed. Writes lab_link_issue, mail. @returns whether there may be more */
  async runOnce(cell: CellName): Promise<boolean> {
    const { cells, log } = this.#options
    const db = cells.db(cell)
    const failing = await listLinks(db.queries, isNewlyFailing)
    const working = await listLinks(db.queries, worksAgain)
    for (const [links, isFailing] of [
      [failing, true],
      [working, false],
    ] as const)
      for (const link of links) {
        const recipients = await this.#recipientsOf(link)
        const isReported = await db.plainTx(async (tx) => {
          const isOurs = isFailing ? await openIssue(tx, link) : await closeIssue(tx, link)
          if (isOurs) for (const to of recipients) sendMail(tx, { to, ...writeMail(cell, link, isFailing) })
          return isOurs
        })
        if (isReported) logChange(log, cell, link, isFailing)
      }
    return failing.length + working.length >= LINKS_MAX
  }

  /** The administrators of the organization of the link, and the operator. */
  async #recipientsOf({ org_id }: ChangedLink): Promise<string[]> {
    const { cells, settings } = this.#options
    const members = org_id === null ? [] : await listAdministrators(cells.control.queries, org_id)
    return [...new Set([...members, ...(settings.lab_alert_email ? [settings.lab_alert_email] : [])])]
  }
}

/** Maximum number of administrators who get the mail. */
const ADMINISTRATORS_MAX = 20

async function listAdministrators(control: Queries, org_id: string): Promise<string[]> {
  const rows = await control.many(
    Member,
    sql`select email from member where org_id = ${org_id} and role = 'org_admin' order by created_at, id limit ${ADMINISTRATORS_MAX}`,
  )
  return rows.map(({ email }) => email)
}

const isDown: Sql = sql`
  exists (select from lab_link_issue q where q.link_account_id = k.account_id and q.reason = 'link_down' and q.state = 'open')`
const isSettled: Sql = sql`k.state_at <= ${dbNow} - make_interval(secs => ${SETTLED_S})`

const isNewlyFailing: Sql = sql`k.state = 'failing' and k.mode <> 'off' and ${isSettled} and not ${isDown}`
const worksAgain: Sql = sql`((k.state = 'ok' and ${isSettled}) or k.mode = 'off') and ${isDown}`

const listLinks = (db: Queries, condition: Sql): Promise<ChangedLink[]> =>
  db.many(
    ChangedLink,
    sql`
    select k.account_id, a.org_id, l.slug as lab, k.state_reason as reason, date_trunc('second', k.state_at) as at
    from lab_link k join lab_account a on a.id = k.account_id join lab l on l.id = a.lab_id
    where ${condition} order by k.account_id limit ${LINKS_MAX}`,
  )

const Id = T.Object({ id: T.String() })

/** Opens the issue of a link, unless another process has done so. Writes lab_link_issue. */
async function openIssue(tx: PlainTx, { account_id, reason }: ChangedLink): Promise<boolean> {
  const row = await tx.maybe(
    Id,
    sql`
    insert into lab_link_issue (id, link_account_id, reason, detail, state, created_at, updated_at)
    values (${tx.uuid()}, ${account_id}, 'link_down', ${reason}, 'open', ${dbNow}, ${dbNow})
    on conflict (link_account_id, message_id, source, reason) where state = 'open' do nothing returning id`,
  )
  return row !== undefined
}

/** Closes the issue of a link, unless another process has done so. Writes lab_link_issue. */
const closeIssue = async (tx: PlainTx, { account_id }: ChangedLink): Promise<boolean> =>
  (await tx.run(sql`
    update lab_link_issue set state = 'done', updated_at = ${dbNow}
    where link_account_id = ${account_id} and reason = 'link_down' and state = 'open'`)) > 0

function writeMail(cell: CellName, { account_id, lab, reason, at }: ChangedLink, isFailing: boolean) {
  return {
    subject: isFailing ? `The link to ${lab} fails` : `The link to ${lab} works again`,
    text: [
      isFailing ? `The link to the laboratory ${lab} has failed since ${at}.` : `The link to the laboratory ${lab} works again.`,
      '',
      ...(isFailing && reason !== null ? [`Reason:  ${reason}`] : []),
      `Account: ${account_id}`,
      `Cell:    ${cell}`,
      '',
      isFailing
        ? `No message is lost: messages are sent when the link works again. Look at it with "bin/drawbridge links check ${account_id}".`
        : 'Messages that waited are sent now.',
      '',
    ].join('\n'),
  }
}

function logChange(log: Log, cell: CellName, { account_id, lab, reason }: ChangedLink, isFailing: boolean): void {
  const fields = { cell, 'lab_account.id': account_id, lab }
  if (isFailing) log.error({ ...fields, reason }, 'link to a laboratory fails')
  else log.info(fields, 'link to a laboratory works again')
}
