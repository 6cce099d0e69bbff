// Members of organizations by command: the way into the console if nobody can sign in.
import type { Call } from '../command-tree.ts'
import { requireText } from '../command-input.ts'
import { addAuditEntries } from '../../platform/http/call.ts'
import { createMemberLink, linkAddress } from '../../tenancy/sign-in/one-time-links.ts'
import { findAccountByEmail } from '../../tenancy/sign-in/passwords.ts'

/** `member link`. Without PUBLIC_URL the address is that of a server on this machine. */
export async function createLink({ cells, args, actor, config }: Call): Promise<string> {
  const email = requireText(args[0], 'member link requires an email address')
  const token = await cells.control.plainTx(async (tx) => {
    const account = await findAccountByEmail(tx, email)
    if (!account) throw new Error('Member not found.')
    const { org_id: org, member_id } = account
    addAuditEntries(tx, { org, key_id: actor, member_id: undefined, operation: 'create_member_link' }, [
      { team_id: null, object: member_id },
    ])
    return createMemberLink(tx, member_id)
  })
  return `${linkAddress(config.public_url ?? `http://127.0.0.1:${config.port}`, 'reset', token)}\n`
}
