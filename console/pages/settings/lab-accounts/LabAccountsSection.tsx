import { Button, Modal, Skeleton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { usePermissions } from '../../../session/permissions.ts'
import { useTeam } from '../../../session/team.ts'
import { Section } from '../Section.tsx'
import { LabAccountForm } from './LabAccountForm.tsx'
import { useLabAccounts, type LabAccount } from './lab-account-queries.ts'
import { LabAccountTable } from './LabAccountTable.tsx'
import { LinkTeamsForm } from './LinkTeamsForm.tsx'

/** What is done in the dialog, with a copy of the account: the list behind it is read again meanwhile. */
type Task = { kind: 'create' } | { kind: 'change' | 'link'; account: LabAccount }

/** The accounts at laboratories under which teams order. */
export function LabAccountsSection() {
  const { environment } = useTeam()
  const isPermitted = usePermissions()
  const accounts = useLabAccounts()
  const [task, setTask] = useState<Task>()
  const [isOpen, { open, close }] = useDisclosure()
  const start = (next: Task): void => {
    setTask(next)
    open()
  }
  const canChange = isPermitted('upsert_lab_account') && environment === 'sandbox'
  const canLink = isPermitted('update_lab_account_team_id_allowlist')
  return (
    <Section
      title="Lab accounts"
      description={
        environment === 'sandbox'
          ? 'Accounts at laboratories under which teams order. No laboratory is behind an account of a sandbox.'
          : 'Accounts at laboratories under which teams order. The operator of the server, who has the contracts, creates those of production.'
      }
      actions={
        canChange && (
          <Button size="compact-sm" variant="default" onClick={() => start({ kind: 'create' })}>
            Create a lab account
          </Button>
        )
      }
    >
      {accounts.error && <ErrorNotice error={accounts.error} onRetry={() => void accounts.refetch()} />}
      {!accounts.data && !accounts.error && (
        <Delayed>
          <Skeleton height={144} />
        </Delayed>
      )}
      {accounts.data?.length === 0 && (
        <EmptyState
          title="No lab accounts"
          {...(environment === 'production' && { command: 'bin/drawbridge lab account create --help' })}
        >
          {environment === 'sandbox'
            ? 'Orders of a sandbox need no account of your own: the accounts of the platform serve every team.'
            : 'Orders at a laboratory need an account there that is linked to the team.'}
        </EmptyState>
      )}
      {accounts.data && accounts.data.length > 0 && (
        <LabAccountTable
          accounts={accounts.data}
          onChange={canChange ? (account) => start({ kind: 'change', account }) : undefined}
          onLink={canLink ? (account) => start({ kind: 'link', account }) : undefined}
        />
      )}
      <Modal opened={isOpen} onClose={close} title={titleOf(task)} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        {task?.kind === 'link' ? (
          <LinkTeamsForm account={task.account} onLinked={close} />
        ) : (
          <LabAccountForm account={task?.kind === 'change' ? task.account : undefined} onSaved={close} />
        )}
      </Modal>
    </Section>
  )
}

function titleOf(task: Task | undefined): string {
  if (task === undefined || task.kind === 'create') return 'Create a lab account'
  const { lab, provider_account_id } = task.account
  return task.kind === 'link' ? `Teams of ${lab} ${provider_account_id}` : `Change ${lab} ${provider_account_id}`
}
