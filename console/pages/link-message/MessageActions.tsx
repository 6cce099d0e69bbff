import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { saveFile } from '../../components/save-file.ts'
import { usePermissions } from '../../session/permissions.ts'
import { useMessageSteps, type LabMessage } from '../link-messages/message-queries.ts'
import { FinishDialog } from '../links/FinishDialog.tsx'
import { accountWords, useLinks, useLinkScope } from '../links/link-queries.ts'

type Step = 'replay' | 'resend' | 'finish'

/** States in which the laboratory has an outgoing message. */
const ACCEPTED: readonly LabMessage['state'][] = ['committed', 'accepted']
/** States in which nothing is left to do with a message, or a review of its result decides. */
const SETTLED: readonly LabMessage['state'][] = ['applied', 'accepted', 'review', 'test', 'shadow', 'done']

/** Downloads the message, processes or sends it again, and marks it as done. */
export function MessageActions({ message }: { message: LabMessage }) {
  const { id, direction, state, account_id } = message
  const isPermitted = usePermissions()
  const { org_id, env, region } = useLinkScope()
  const { readBytes } = useMessageSteps(id)
  const [step, setStep] = useState<Step>()
  const download = useMutation({ mutationFn: async () => saveFile(await readBytes(), `${id}.txt`) })
  return (
    <>
      <CodeSamples
        request={{ method: 'GET', path: `/v1/org/${org_id}/lab_message/${env}/${region}/${id}` }}
        keyKind="management"
      />
      <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
        Download
      </Button>
      {direction === 'in' && account_id !== null && isPermitted('replay_lab_message') && (
        <Button variant="default" onClick={() => setStep('replay')}>
          Replay
        </Button>
      )}
      {direction === 'out' && !ACCEPTED.includes(state) && isPermitted('resend_lab_message') && (
        <Button variant="default" onClick={() => setStep('resend')}>
          Resend
        </Button>
      )}
      {!SETTLED.includes(state) && isPermitted('finish_lab_message') && (
        <Button variant="default" onClick={() => setStep('finish')}>
          Mark as done
        </Button>
      )}
      {download.error && <ErrorNotice error={download.error} />}
      <StepDialogs message={message} step={step} onClose={() => setStep(undefined)} />
    </>
  )
}

interface StepDialogsProps {
  message: LabMessage
  step: Step | undefined
  onClose: () => void
}

function StepDialogs({ message, step, onClose }: StepDialogsProps) {
  const { replay, resend, finish } = useMessageSteps(message.id)
  const links = useLinks()
  const link = links.data?.find(({ account_id }) => account_id === message.account_id)
  const name = link ? accountWords(link) : (message.lab ?? 'the laboratory')
  return (
    <>
      <ConfirmDialog
        isOpen={step === 'replay'}
        onClose={onClose}
        title="Replay the message"
        action="Replay message"
        onConfirm={replay}
      >
        <Stack gap="sm">
          <Text size="sm">
            The message is processed again by the present profile of {name}. What was applied before is not applied twice. If it
            is read differently now, the result of the order is corrected, and endpoints of the team receive an event.
          </Text>
          {link && link.mode !== 'live' && (
            <ModeNote>The link is in mode {link.mode}, which also holds for this message.</ModeNote>
          )}
        </Stack>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={step === 'resend'}
        onClose={onClose}
        title="Resend the message"
        action="Resend message"
        onConfirm={resend}
      >
        <Stack gap="sm">
          <Text size="sm">
            The same bytes go to {name} again, with the same control id, by which the laboratory recognizes a message that it has.
            A corrected order needs a new message: send the order again on its page.
          </Text>
          {link?.mode === 'off' && <ModeNote>The link is in mode off: the message waits until that changes.</ModeNote>}
        </Stack>
      </ConfirmDialog>
      <FinishDialog
        title="Mark the message as done"
        text={
          message.direction === 'out'
            ? 'It is not sent any more. The laboratory gets no message, and the order does not change.'
            : 'It is not processed any more, and the order does not change. It can still be replayed.'
        }
        isOpen={step === 'finish'}
        onClose={onClose}
        onConfirm={finish}
      />
    </>
  )
}

const ModeNote = ({ children }: { children: React.ReactNode }) => (
  <Text size="sm" fw={600}>
    {children}
  </Text>
)
