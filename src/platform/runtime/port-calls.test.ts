// Questions of a thread to its process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { answerThread, askProcess, Unanswered } from './port-calls.ts'

type Question = { read: number } | { batch: unknown }

const batch = (): Question => ({ batch: [] })

test('a part that is requested while a batch is being stored is answered separately, and the batch after it is stored', async () => {
  const { port1, port2 } = new MessageChannel()
  const stored = Promise.withResolvers<void>()
  const answers = answerThread<Question>(port1, async (question) => {
    if ('read' in question) return { answer: question.read }
    await stored.promise
    return {}
  })
  try {
    let isStored = false
    const storing = askProcess(port2, batch()).then((reply) => {
      isStored = true
      return reply
    })
    assert.deepEqual([await askProcess(port2, { read: 7 }), await askProcess(port2, { read: 8 })], [7, 8])
    assert.equal(isStored, false)
    stored.resolve()
    assert.equal(await storing, undefined)
  } finally {
    answers.close()
  }
})

test('after a question that failed no further one is answered, so that nothing incomplete is stored', async () => {
  const { port1, port2 } = new MessageChannel()
  const refusal = new Error('refused')
  const asked: string[] = []
  const answers = answerThread<Question>(port1, async (question) => {
    asked.push(Object.keys(question)[0]!)
    if ('read' in question) throw refusal
    return {}
  })
  try {
    await assert.rejects(askProcess(port2, { read: 7 }), Unanswered)
    await assert.rejects(askProcess(port2, batch()), Unanswered)
    assert.deepEqual(asked, ['read'])
    assert.equal(answers.failure(), refusal)
  } finally {
    answers.close()
  }
})
