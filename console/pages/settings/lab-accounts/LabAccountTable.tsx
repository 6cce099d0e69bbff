import { Button, Group, Table } from '@mantine/core'
import { toWords } from '../../../components/order-status.ts'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../../components/StatusBadge.tsx'
import { useSession } from '../../../session/session.ts'
import { shortId } from '../../../components/IdText.tsx'
import { US_STATES } from '../us-states.ts'
import type { LabAccount } from './lab-account-queries.ts'

const TONES = { active: 'good', pending: 'progress', suspended: 'failed', ready_to_launch: 'progress' } as const

interface LabAccountTableProps {
  accounts: readonly LabAccount[]
  /** Undefined for members who may not. */
  onChange: ((account: LabAccount) => void) | undefined
  onLink: ((account: LabAccount) => void) | undefined
}

/** Lab accounts: what they are at the laboratory, what they permit, and whose orders go under them. */
export function LabAccountTable({ accounts, onChange, onLink }: LabAccountTableProps) {
  const { teams } = useSession()
  const nameOf = (id: string): string => teams.find((team) => team.id === id)?.name ?? shortId(id)
  return (
    <ScrollRegion label="Lab accounts">
      <Table miw={820} aria-label="Lab accounts">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Laboratory</Table.Th>
            <Table.Th>Account</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Delegated</Table.Th>
            <Table.Th>Billing</Table.Th>
            <Table.Th>Teams</Table.Th>
            {(onChange ?? onLink) && <Table.Th aria-label="Actions" />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {accounts.map((account) => (
            <Table.Tr key={account.id}>
              <Table.Td>{account.lab}</Table.Td>
              <Table.Td title={account.id}>
                {account.provider_account_id}
                {account.account_name !== null && ` · ${account.account_name}`}
              </Table.Td>
              <Table.Td>
                <StatusBadge tone={TONES[account.status]}>{toWords(account.status)}</StatusBadge>
              </Table.Td>
              <Table.Td>{toWords(account.delegated_flow)}</Table.Td>
              <Table.Td>{billingText(account.allowed_billing)}</Table.Td>
              <Table.Td>{teamsText(account, nameOf)}</Table.Td>
              {(onChange ?? onLink) && (
                <Table.Td>
                  <Group gap="xs" justify="flex-end" wrap="nowrap">
                    {onChange && account.org_id !== null && (
                      <Button
                        size="compact-sm"
                        variant="default"
                        onClick={() => onChange(account)}
                        aria-label={`Change ${account.provider_account_id}`}
                      >
                        Change
                      </Button>
                    )}
                    {onLink && account.org_id !== null && (
                      <Button
                        size="compact-sm"
                        variant="default"
                        onClick={() => onLink(account)}
                        aria-label={`Teams of ${account.provider_account_id}`}
                      >
                        Teams
                      </Button>
                    )}
                  </Group>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  )
}

function billingText(billing: LabAccount['allowed_billing']): string {
  const offered = Object.entries(billing).filter(([, states]) => states.length > 0)
  if (!offered.length) return 'none'
  return offered
    .map(([type, states]) => `${toWords(type)}${states.length < US_STATES.length ? ` in ${states.length} states` : ''}`)
    .join(', ')
}

function teamsText({ org_id, team_id_allowlist }: LabAccount, nameOf: (id: string) => string): string {
  if (org_id === null) return 'every team'
  return team_id_allowlist.length ? team_id_allowlist.map(nameOf).join(', ') : 'none'
}
