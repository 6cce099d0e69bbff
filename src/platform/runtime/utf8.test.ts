// Texts of bytes that are UTF-8, and of bytes that are not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeUtf8, encodeUtf8, hasForeignEscapes } from './utf8.ts'

const bytes = (latin1: string) => Buffer.from(latin1, 'latin1')

test('bytes in UTF-8 are their text', () => {
  for (const text of ['', 'plain', 'René', '日本', '😀', '\uFEFFa', '\uFFFD', 'a\0b'])
    assert.equal(decodeUtf8(Buffer.from(text)), text)
})

test('a byte that is not UTF-8 becomes half a surrogate pair, and the rest of the text is decoded', () => {
  assert.equal(decodeUtf8(bytes('ren\xe8')), 'ren\udce8')
  assert.equal(decodeUtf8(bytes('\xc3\xa9\xe9 \xc3\xa9')), 'é\udce9 é')
  // Cut off, overlong, half a surrogate pair, beyond Unicode, and bytes that only continue others.
  const faulty = ['\xe2\x82', '\xc0\xaf', '\xed\xa0\x80', '\xf5\x80\x80\x80', '\x80\xbf', '\xff\xfe', '\xf0\x9f\x98']
  for (const one of faulty) {
    const text = decodeUtf8(bytes(one))
    assert.equal(text.isWellFormed(), false, one)
    assert.equal(text.length, one.length)
  }
})

test('any bytes and their text are one another, so that no two byte sequences have one text', () => {
  let seed = 7
  const random = () => (seed = (seed * 48_271) % 2_147_483_647)
  const pool = [0x41, 0x2c, 0x80, 0xbf, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xb2, 0xf0, 0x9f, 0x98, 0x80, 0xff]
  for (let i = 0; i < 5000; i++) {
    const some = Buffer.from(Array.from({ length: random() % 12 }, () => pool[random() % pool.length]!))
    assert.deepEqual(encodeUtf8(decodeUtf8(some)), some)
  }
})

test('escapes of a form or a query name bytes in UTF-8, or others', () => {
  for (const fine of ['a=ren%C3%A8', 'a=100%', 'a=%zz&b=%4', '%F0%9F%98%80', ''])
    assert.equal(hasForeignEscapes(fine), false, fine)
  for (const foreign of ['a=ren%E8', '%C3', '%c3%28', '%ED%A0%80']) assert.equal(hasForeignEscapes(foreign), true, foreign)
})
