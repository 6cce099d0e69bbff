import { Button, Group, Modal, Skeleton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { Section } from '../Section.tsx'
import { useCredentials } from './credential-queries.ts'
import { CredentialTable } from './CredentialTable.tsx'
import { SetCredentialForm } from './SetCredentialForm.tsx'

/** The team's own applications at providers of health data, laboratories and carriers. */
export function CredentialsSection() {
  const credentials = useCredentials()
  const canSet = usePermission('upsert_team_custom_credentials')
  const [isSetting, { open, close }] = useDisclosure()
  const rows = credentials.data?.pages.flatMap((page) => page.credentials) ?? []
  return (
    <Section
      title="Credentials"
      description="The team's own applications at providers. With them, users see the name of your application when they connect. Secrets are stored encrypted and never shown again."
      actions={
        canSet && (
          <Button size="compact-sm" variant="default" onClick={open}>
            Set credentials
          </Button>
        )
      }
    >
      {credentials.error && <ErrorNotice error={credentials.error} onRetry={() => void credentials.refetch()} />}
      {!credentials.data && !credentials.error && (
        <Delayed>
          <Skeleton height={144} />
        </Delayed>
      )}
      {credentials.data && rows.length === 0 && (
        <EmptyState title="No credentials">
          Without own credentials, users connect through the applications that the operator has set, if there are any.
        </EmptyState>
      )}
      {rows.length > 0 && <CredentialTable credentials={rows} />}
      {credentials.hasNextPage && (
        <Group>
          <Button variant="subtle" size="compact-sm" onClick={() => void credentials.fetchNextPage()}>
            Load more
          </Button>
        </Group>
      )}
      <Modal opened={isSetting} onClose={close} title="Set credentials" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <SetCredentialForm onSet={close} />
      </Modal>
    </Section>
  )
}
