import { Anchor, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Page } from '../../components/Page.tsx'
import { basePath } from '../../page-context.ts'
import { useTeam } from '../../session/team.ts'
import { RequestTabs } from '../requests/RequestTabs.tsx'
import { findOperation, useApiDocument } from './api-document.ts'
import { OperationRun } from './OperationRun.tsx'
import { OperationSelect } from './OperationSelect.tsx'

/** Tries operations of the API as the signed-in member; in production those that read. */
export function ExplorerPage() {
  const { environment } = useTeam()
  const [params, setParams] = useSearchParams()
  const operations = useApiDocument()
  const operation = findOperation(operations.data, params.get('operation'))
  return (
    <Page title="Explorer">
      <RequestTabs />
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <Text size="sm" c="dimmed">
            {environment === 'sandbox'
              ? 'Runs operations in this sandbox with your session.'
              : 'In production the explorer only reads. What you read is in the access log.'}
          </Text>
          <Anchor href={`${basePath}/docs`} size="sm">
            API reference
          </Anchor>
        </Group>
        {operations.error && <ErrorNotice error={operations.error} onRetry={() => void operations.refetch()} />}
        {!operations.data && !operations.error && (
          <Delayed>
            <Skeleton height={60} />
          </Delayed>
        )}
        {operations.data && (
          <OperationSelect operations={operations.data} value={operation?.id} onChange={(id) => setParams({ operation: id })} />
        )}
        {operation && <OperationRun operation={operation} key={operation.id} />}
      </Stack>
    </Page>
  )
}
