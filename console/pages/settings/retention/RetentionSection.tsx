import { List, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { Delayed } from '../../../components/Delayed.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { Section } from '../Section.tsx'
import { useRetention, type Retention } from './retention-queries.ts'
import { RuleEditor } from './RuleEditor.tsx'

/** How long health data of the team is kept. */
export function RetentionSection() {
  const retention = useRetention()
  const [isSaved, setSaved] = useState(false)
  return (
    <Section
      title="Retention of health data"
      description="Summaries and samples are deleted so many days after the day that they are about, without events. Without a rule they are kept. Orders and results are not health data of this kind and stay."
    >
      {retention.error && <ErrorNotice error={retention.error} onRetry={() => void retention.refetch()} />}
      {!retention.data && !retention.error && (
        <Delayed>
          <Skeleton height={240} />
        </Delayed>
      )}
      {retention.data && (
        <>
          <RuleEditor key={JSON.stringify(retention.data.rules)} current={retention.data.rules} onSaved={() => setSaved(true)} />
          {isSaved && (
            <Text size="sm" role="status">
              Saved. What has expired is deleted within about an hour.
            </Text>
          )}
          <ProviderLimits limits={retention.data.provider_limits} />
        </>
      )}
    </Section>
  )
}

/** What holds whatever the rules say. */
const ProviderLimits = ({ limits }: { limits: Retention['provider_limits'] }) =>
  limits.length > 0 && (
    <Stack gap="xs">
      <Title order={3}>Limits of the operator</Title>
      <List size="sm">
        {limits.map(({ provider, days }) => (
          <List.Item key={provider}>
            {provider}: at most {days.toLocaleString()} days
          </List.Item>
        ))}
      </List>
    </Stack>
  )
