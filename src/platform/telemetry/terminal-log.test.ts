// The log at a terminal: every line and field is there, and lines of other programs are left alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isColored, isForPeople, terminalLine } from './terminal-log.ts'

const request =
  '{"level":"info","time":"2026-01-31T10:20:30.456Z","request.id":"a1-2","operation":"get_user","status":200,"duration_ms":1.5,"msg":"request"}\n'

test('a request is one line that shows its fields in their order', () => {
  assert.equal(
    terminalLine(request, false),
    '10:20:30.456 INFO  request    request.id=a1-2 operation=get_user status=200 duration_ms=1.5\n',
  )
})

test('the causes of an error are shown with their frames', () => {
  const causes = [{ name: 'TypeError', code: 'E_TEST', stack: '    at one (a.ts:1:2)\n    at two (b.ts:3:4)' }, { name: 'Error' }]
  const line = JSON.stringify({ level: 'error', time: '2026-01-31T10:20:30.456Z', causes, msg: 'request failed' })
  assert.equal(
    terminalLine(line, false),
    '10:20:30.456 ERROR request failed\n    TypeError E_TEST\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)\n    Error\n',
  )
})

test('texts with spaces, lists and control characters are quoted', () => {
  const line = JSON.stringify({
    level: 'warn',
    time: '2026-01-31T10:20:30.456Z',
    text: 'a b',
    list: [1, 'x'],
    bad: '\u001b[2J',
    none: null,
  })
  assert.match(terminalLine(line, false), /text="a b" list=\[1,"x"\] bad="\\u001b\[2J" none=null\n$/)
})

test('colors are there when they are wanted', () => {
  const escape = String.fromCharCode(27)
  assert(!terminalLine(request, false).includes(escape))
  assert(terminalLine(request.replace('info', 'warn'), true).includes(`${escape}[33mWARN `))
})

test('colors are for terminals, unless NO_COLOR is set', () => {
  assert.deepEqual(
    [isColored('', true), isColored('1', true), isColored('', false), isColored('1', false)],
    [true, false, false, false],
  )
})

test('other text is left as it is', () => {
  for (const text of ['Debugger attached.\n', '{"level":', 'null\n', '[]\n', '{}\n', '7\n'])
    assert.equal(terminalLine(text, true), text)
})

test('lines are for people on a terminal, unless the setting says otherwise', () => {
  const chosen = (['auto', 'json', 'text'] as const).map((format) => [isForPeople(format, true), isForPeople(format, false)])
  assert.deepEqual(chosen, [
    [true, false],
    [false, false],
    [true, true],
  ])
})
