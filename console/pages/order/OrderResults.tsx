import { List, Skeleton, Stack, Table, Text } from '@mantine/core'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useResults, type LabResults, type Order } from './order-queries.ts'
import { RangeBar } from './RangeBar.tsx'

type Result = LabResults['results'][number]

const HAS_REPORT = new Set(['completed', 'corrected', 'partial_results'])

/** The results of the order's report, with the place of each number in its range. */
export function OrderResults({ order }: { order: Order }) {
  const hasReport = order.events.some(({ status }) => HAS_REPORT.has(status.split('.')[2] ?? ''))
  const results = useResults(order.id, hasReport)
  if (!hasReport)
    return (
      <EmptyState title="No results yet">
        The laboratory has not reported. Results appear here with the first report, also with a partial one.
      </EmptyState>
    )
  if (results.error) return <ErrorNotice error={results.error} onRetry={() => void results.refetch()} />
  if (!results.data)
    return (
      <Delayed>
        <Skeleton height={200} />
      </Delayed>
    )
  const { results: rows, missing_results, metadata } = results.data
  return (
    <Stack gap="md">
      {metadata.status === 'partial' && <StatusBadge tone="attention">Partial report: more results will follow</StatusBadge>}
      <ScrollRegion label="Results">
        <Table miw={640} aria-label="Results" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Marker</Table.Th>
              <Table.Th ta="right">Result</Table.Th>
              <Table.Th>Unit</Table.Th>
              <Table.Th>Reference range</Table.Th>
              <Table.Th>Interpretation</Table.Th>
              <Table.Th>Flag of the laboratory</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((result, index) => (
              <ResultRow key={`${index} ${result.slug}`} result={result} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {missing_results.length > 0 && <MissingResults results={missing_results} />}
    </Stack>
  )
}

const TONES = { normal: 'good', abnormal: 'attention', critical: 'failed', unknown: 'neutral' } as const

function ResultRow({ result }: { result: Result }) {
  const { name, result: text, unit, interpretation, source_interpretation, notes, loinc } = result
  return (
    <Table.Tr>
      <Table.Td>
        {name}
        {loinc !== null && (
          <Text size="xs" c="dimmed">
            LOINC {loinc}
          </Text>
        )}
        {notes !== null && notes !== '' && (
          <Text size="xs" c="dimmed">
            {notes}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" fw={interpretation === 'normal' ? undefined : 600}>
        {text}
      </Table.Td>
      <Table.Td>{unit}</Table.Td>
      <Table.Td>
        <RangeBar result={result} />
      </Table.Td>
      <Table.Td>
        <StatusBadge tone={TONES[interpretation]}>{toWords(interpretation)}</StatusBadge>
      </Table.Td>
      <Table.Td>{source_interpretation}</Table.Td>
    </Table.Tr>
  )
}

const MissingResults = ({ results }: { results: LabResults['missing_results'] }) => (
  <Stack gap="xs">
    <Text fw={600} size="sm">
      Ordered and not reported
    </Text>
    <List size="sm">
      {results.map(({ slug, name, inferred_failure_type, note }) => (
        <List.Item key={slug}>
          {name}: {toWords(inferred_failure_type)}
          {note !== null && `, ${note}`}
        </List.Item>
      ))}
    </List>
  </Stack>
)
