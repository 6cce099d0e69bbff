import { Anchor, Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link, useParams } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { IdText } from '../../components/IdText.tsx'
import { methodWords, toWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import type { LabTest } from '../catalog/catalog-queries.ts'
import { durationText, TONES } from '../catalog/lab-test-words.ts'
import { priceText } from '../catalog/price-text.ts'
import { LabTestActions } from './LabTestActions.tsx'
import { useLabTest, useMarkersOfTest } from './lab-test-queries.ts'
import { MarkerTable } from './MarkerTable.tsx'
import { OtherLaboratories } from './OtherLaboratories.tsx'
import { Questions } from './Questions.tsx'

/** One lab test: how it is collected, what it measures, and what the laboratory asks. */
export function LabTestPage() {
  const { lab_test_id = '' } = useParams()
  const test = useLabTest(lab_test_id)
  const markers = useMarkersOfTest(lab_test_id)
  if (!test.data)
    return (
      <Page title="Lab test">
        {test.error ? (
          <ErrorNotice error={test.error} onRetry={() => void test.refetch()} />
        ) : (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
      </Page>
    )
  return (
    <Page
      title="Lab test"
      heading={<Heading test={test.data} />}
      actions={
        <>
          <CodeSamples request={{ method: 'GET', path: `/v3/lab_tests/${lab_test_id}` }} />
          <LabTestActions test={test.data} />
        </>
      }
    >
      {test.error && <ErrorNotice error={test.error} />}
      <TestFacts test={test.data} />
      {markers.error && <ErrorNotice error={markers.error} onRetry={() => void markers.refetch()} />}
      {markers.data && (
        <>
          <Stack gap="sm">
            <Title order={2}>Markers</Title>
            <MarkerTable markers={markers.data.markers} label="Markers" />
          </Stack>
          <Questions markers={markers.data.markers} />
          <OtherLaboratories markers={markers.data.markers} />
        </>
      )}
    </Page>
  )
}

function Heading({ test: { id, name, status } }: { test: LabTest }) {
  const { pathTo } = useTeam()
  return (
    <Stack gap={2}>
      <Anchor component={Link} to={pathTo('catalog')} size="sm">
        Catalog
      </Anchor>
      <Title order={1}>{name}</Title>
      <Text size="sm" c="dimmed" component="div">
        <StatusBadge tone={TONES[status]}>{toWords(status)}</StatusBadge> <IdText id={id} />
      </Text>
    </Stack>
  )
}

const TestFacts = ({ test }: { test: LabTest }) => (
  <Facts
    facts={[
      { label: 'Description', value: test.description },
      { label: 'Method', value: methodWords(test.method) },
      { label: 'Sample', value: toWords(test.sample_type) },
      { label: 'Fasting', value: test.fasting ? 'Required' : 'Not required' },
      { label: 'Laboratory', value: test.lab?.name },
      { label: 'Other methods of the laboratory', value: otherMethods(test) },
      { label: 'Price', value: priceText({ base_amount_minor: Math.round(test.price * 100), modifiers: null }) },
      { label: 'Results take', value: durationText(test) },
      { label: 'Collection instructions', value: test.has_collection_instructions && 'A PDF for the patient' },
      { label: 'Created', value: test.auto_generated && 'By an order of single markers' },
      { label: 'Slug', value: test.slug },
    ]}
  />
)

const otherMethods = ({ lab, method }: LabTest): string =>
  (lab?.collection_methods ?? [])
    .filter((candidate) => candidate !== method)
    .map(methodWords)
    .join(', ')
