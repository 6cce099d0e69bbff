import { Skeleton, Stack, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Delayed } from '../Delayed.tsx'
import { ErrorNotice } from '../ErrorNotice.tsx'
import { Bars, type BarsProps } from './Bars.tsx'

export interface DayCounts<Name extends string> {
  /** `YYYY-MM-DD`. */
  date: string
  counts: Record<Name, number>
}

interface DailySectionProps<Name extends string> extends Omit<BarsProps<Name>, 'bars' | 'mostText'> {
  /** The id of its heading. */
  id: string
  title: string
  query: UseQueryResult<DayCounts<Name>[]>
  /** The list of what a day counts. */
  dayPath?: (date: string) => string
}

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A chart of 30 days under its heading: a skeleton until its data is there, or the error. */
export const DailySection = <Name extends string>({ id, title, label, query, dayPath, ...props }: DailySectionProps<Name>) => (
  <section aria-labelledby={id}>
    <Stack gap="sm">
      <Title order={2} id={id}>
        {title}
      </Title>
      {query.error && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {!query.data && !query.error && (
        <Delayed>
          <Skeleton height={206} />
        </Delayed>
      )}
      {query.data && (
        <Bars
          label={`${label} of ${query.data.length} days`}
          bars={query.data.map(({ date, counts }) => ({ label: day.format(new Date(date)), counts, path: dayPath?.(date) }))}
          mostText="most in a day"
          {...props}
        />
      )}
    </Stack>
  </section>
)
