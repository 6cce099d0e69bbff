import { Group, MultiSelect, Stack, TagsInput, Text } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { methodWords } from '../../components/order-status.ts'
import { MarkerTable } from '../lab-test/MarkerTable.tsx'
import { toOrderSetBody, useLabTests, useOrderSet } from './catalog-queries.ts'

/** The markers that tests and single codes order together, each once. The set is in the address. */
export function OrderSetPreview() {
  const [params, setParams] = useSearchParams()
  const orderSet = { lab_test_ids: params.getAll('test'), provider_ids: params.getAll('code') }
  const tests = useLabTests({ status: 'active' })
  const markers = useOrderSet(orderSet)
  const change = (name: 'test' | 'code', values: string[]): void =>
    setParams(
      (previous) => {
        const changed = new URLSearchParams(previous)
        changed.delete(name)
        for (const value of values) changed.append(name, value)
        return changed
      },
      { replace: true },
    )
  const options = (tests.data?.pages ?? []).flatMap(({ data }) =>
    data.map(({ id, name, method, lab }) => ({
      value: id,
      label: [name, methodWords(method), lab?.name].filter(Boolean).join(' · '),
    })),
  )
  const isEmpty = !orderSet.lab_test_ids.length && !orderSet.provider_ids.length
  return (
    <Stack gap="lg">
      <Stack gap="sm" maw={720}>
        <MultiSelect
          label="Tests"
          placeholder={orderSet.lab_test_ids.length ? undefined : 'Choose tests'}
          data={options}
          value={orderSet.lab_test_ids}
          onChange={(ids) => change('test', ids)}
          searchable
          clearable
          limit={200}
          nothingFoundMessage="No test of the team has this name"
        />
        <TagsInput
          label="Further codes of the laboratory"
          description="Each with Enter"
          value={orderSet.provider_ids}
          onChange={(codes) => change('code', codes)}
          clearable
        />
      </Stack>
      {isEmpty && (
        <EmptyState title="No order set">
          An order set orders several tests and single markers of one laboratory at once. Choose some to see what it would order.
        </EmptyState>
      )}
      {markers.error && <ErrorNotice error={markers.error} onRetry={() => void markers.refetch()} />}
      {!isEmpty && markers.data && (
        <>
          <Group justify="space-between" gap="sm">
            <Text size="sm">
              {markers.data.total} {markers.data.total === 1 ? 'marker' : 'markers'}, each once. Nothing is ordered here.
            </Text>
            <CodeSamples
              request={{ method: 'POST', path: '/v3/lab_tests/list_order_set_markers', body: toOrderSetBody(orderSet) }}
            />
          </Group>
          <MarkerTable markers={markers.data.markers} label="Markers of the order set" />
        </>
      )}
    </Stack>
  )
}
