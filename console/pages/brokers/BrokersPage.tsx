import { Alert, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { Page } from '../../components/Page.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { EventTabs } from '../events/EventTabs.tsx'
import { findAddress } from './broker-form.ts'
import { brokerName } from './broker-names.ts'
import { BROKER_KINDS, useDeletePipeline, usePipeline, type BrokerKind, type Pipeline } from './broker-queries.ts'
import { BrokerCard } from './BrokerCard.tsx'
import { BrokerDialog } from './BrokerDialog.tsx'
import { PipelineDialog } from './PipelineDialog.tsx'

/** The brokers to which the team's events are written, beside its endpoints. */
export function BrokersPage() {
  const { org_id, environment, region, team } = useTeam()
  const canChange = usePermission('upsert_team_etl_pipelines')
  const pipeline = usePipeline()
  const [editing, setEditing] = useState<{ kind: BrokerKind | undefined; isOpen: boolean }>({ kind: undefined, isOpen: false })
  const isComplete = pipeline.data != null && BROKER_KINDS.every((kind) => pipeline.data?.[kind])
  const addButton = canChange && pipeline.data !== undefined && !isComplete && (
    <Button onClick={() => setEditing({ kind: undefined, isOpen: true })}>Add a broker</Button>
  )
  const path = `/v1/org/${org_id}/team_etl_pipelines/${environment}/${region}`
  return (
    <Page
      title="Brokers"
      actions={
        <>
          <CodeSamples request={{ method: 'GET', path, query: { team_id: team.id } }} keyKind="management" />
          {addButton}
        </>
      }
    >
      <EventTabs />
      {pipeline.error && <ErrorNotice error={pipeline.error} onRetry={() => void pipeline.refetch()} />}
      {pipeline.data === undefined && !pipeline.error && (
        <Delayed>
          <Skeleton height={240} />
        </Delayed>
      )}
      {pipeline.data === null && (
        <EmptyState title="No broker yet" action={addButton}>
          Events can also be written to RabbitMQ, Azure Event Hubs or Google Cloud Pub/Sub, from which many programs read them.
        </EmptyState>
      )}
      {pipeline.data && <PipelineDetails pipeline={pipeline.data} onEdit={(kind) => setEditing({ kind, isOpen: true })} />}
      {pipeline.data !== undefined && (
        <BrokerDialog pipeline={pipeline.data} {...editing} onClose={() => setEditing({ ...editing, isOpen: false })} />
      )}
    </Page>
  )
}

function PipelineDetails({ pipeline, onEdit }: { pipeline: Pipeline; onEdit: (kind: BrokerKind) => void }) {
  const { preferences, event_type_prefixes, push_historical_data, provider_raw_data, delivery_error } = pipeline
  return (
    <>
      {delivery_error !== null && (
        <Alert color="red" title={delivery_error}>
          Events wait. Setting the brokers again resumes sending.
        </Alert>
      )}
      <Stack gap="md">
        {BROKER_KINDS.filter((kind) => findAddress(pipeline, kind) !== undefined).map((kind) => (
          <BrokerCard key={kind} pipeline={pipeline} kind={kind} onEdit={() => onEdit(kind)} />
        ))}
      </Stack>
      <Stack gap="sm">
        <Title order={2}>Events for brokers</Title>
        <Facts
          facts={[
            { label: 'Written to', value: preferences.enabled.map(brokerName).join(', ') },
            { label: 'Event types', value: event_type_prefixes?.length ? event_type_prefixes.join(', ') : 'all' },
            { label: 'Earlier data', value: push_historical_data ? 'with events' : 'without events' },
            { label: 'Raw data', value: provider_raw_data ? 'with events' : 'without events' },
          ]}
        />
        <PipelineActions pipeline={pipeline} />
      </Stack>
    </>
  )
}

function PipelineActions({ pipeline }: { pipeline: Pipeline }) {
  const { team } = useTeam()
  const canChange = usePermission('upsert_team_etl_pipelines')
  const canDelete = usePermission('delete_team_etl_pipelines')
  const deletePipeline = useDeletePipeline()
  const [action, setAction] = useState<'edit' | 'delete'>()
  const close = (): void => setAction(undefined)
  return (
    <Group gap="sm">
      {canChange && (
        <Button size="xs" variant="default" onClick={() => setAction('edit')}>
          Edit
        </Button>
      )}
      {canDelete && (
        <Button size="xs" variant="default" c="var(--failed)" onClick={() => setAction('delete')}>
          Delete all brokers
        </Button>
      )}
      <PipelineDialog pipeline={pipeline} isOpen={action === 'edit'} onClose={close} />
      <ConfirmDialog
        isOpen={action === 'delete'}
        onClose={close}
        title="Delete all brokers"
        action="Delete brokers"
        nameToType={team.name}
        onConfirm={deletePipeline}
      >
        <Text size="sm">
          The connections of {team.name} to its brokers are deleted. Events that wait for a broker are not sent. Endpoints go on
          receiving events.
        </Text>
      </ConfirmDialog>
    </Group>
  )
}
