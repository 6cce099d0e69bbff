import { Button, Stack, Text, Title } from '@mantine/core'
import { useRouteError } from 'react-router'

/** A page that failed: mostly because a new release has replaced the files that this one would load. */
export function RouteError() {
  const error = useRouteError()
  const isOutdated = error instanceof TypeError && /import|module/i.test(error.message)
  return (
    <Stack role="alert" align="flex-start" p="lg" gap="md">
      <Title order={1}>{isOutdated ? 'This page was not loaded' : 'This page failed'}</Title>
      <Text>
        {isOutdated
          ? 'The server was updated or cannot be reached. Loading the page again gets the current release.'
          : 'An error in the console ended it. What you had saved is saved.'}
      </Text>
      <Button onClick={() => location.reload()}>Load again</Button>
    </Stack>
  )
}
