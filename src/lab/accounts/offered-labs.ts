// The laboratories that a team is offered: in a sandbox every one; in production those whose identity the operator has set and at which the
// team has a lab account. Only reads.
import type { Tx } from '../../platform/db/transaction.ts'
import { identifiedLab, needsIdentity } from '../catalog/lab-identity.ts'
import { knownLabs, type LabAccess } from '../catalog/labs.ts'
import { labOfAccount, noAccountError, reloadAccounts, usableAccounts } from './account-selection.ts'

export const labAccess: LabAccess = {
  labForAccount: labOfAccount,

  async offeredLabIds(tx) {
    if (!needsIdentity(tx.tenant)) return undefined
    const [labs, accounts] = await Promise.all([knownLabs(tx), usableAccounts(tx)])
    const linked = new Set(accounts.map(({ lab_id }) => lab_id))
    return labs.filter(({ lab, has_identity }) => has_identity && linked.has(lab.id)).map(({ lab }) => lab.id)
  },

  async assertOffered(tx, lab) {
    if (!needsIdentity(tx.tenant)) return
    await identifiedLab(tx, lab)
    const isHere = ({ lab_id }: { lab_id: number }) => lab_id === lab.id
    if ((await usableAccounts(tx)).some(isHere) || (await reloadAccounts(tx)).some(isHere)) return
    throw await noAccountError(tx, lab)
  },
}

/** Whether a team is offered a laboratory. */
export async function isOffered(tx: Tx, lab_id: number): Promise<boolean> {
  const labs = await labAccess.offeredLabIds(tx)
  return !labs || labs.includes(lab_id)
}
