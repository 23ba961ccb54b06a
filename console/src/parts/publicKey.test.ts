import { describe, expect, it } from "vitest";
import { KeyRefused, readPublicKey } from "./publicKey";

// Made with ssh-keygen; the fingerprints are what `ssh-keygen -l` says of them.
const ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAc6M78xCYVR0QzWeqs89Q5j29GMvCNJjEXa3yPNvpnL ada@desk";
const ECDSA =
  "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLH6LTsjuNcl60l9df71ynMCluJ9iOdEyQYOJJyVkyGoPKGXYxcOikkl0dn66q0c4a1EtEnPIPQeibGXl+KMvlc= two words";
const RSA =
  "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDRzgpyHg5n07QgscDgeEY72OApm9jfmeQY1dZEEnRAGlAzQaUxacvojLnKX7910fpNI0iCcvl0NnVnZ17TjIYUOj52GztFv9TOWXeAGBk/3PAJKDGro0QGrpY3IwslMbPcGsmtriU8R+LhSG3Rj64FNBNxaxb2+Y/lCNZQDUwrbezVLgDKYK7+QRatUp0xK/RpGVzCVV1j3+oIL/FKFnSbQ8wK48oJHkRzQAbcx8AW2XnoAZ5OZyo5rgL7mdGTCWWoie9wWbktbeZYPUmOyBzes3OAh8jhKe5WJ5ZNe5soueQ6c7ohIm4GuOtwqc/lKTcT24hs8j87cRCVrCo5i0hjl72z9Xki0ipLYzb84SPwq0cr2HmPQYDqcEC10VvJcF78UrFHIcL3QfmRczM1yPqNF3Wl00SWxTaqGlCc4U4YyBpHPe8so7bDHeKUXS1FB9D40KCW0EmFLwtln6FmGiIvR2moxb7yKw301W1w6mHNjedTQ+vLSqcWKKpbve/wuVc= ada@desk";
const SMALL_RSA =
  "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC+d45Kk/wNZ2srSnTAjr5MKX3CGo3J/n6IAMJwDzPI5FQPDkwQpSFjpeIjnomT4htb16oPcKkpWfXKEoBV+75h8paPDelOpjGZMc3m5cddlrjtl81RAtC7/Mun+eIpHEiP5kOK0Z7A8cF+iqg61EUTqOPXoavGefdiY97L1c+/wvfqyjlpKyiSVQrQ6kF4dMPXtOf5kSd4DyjJFcy8q4JY62kxLPXcmSTQdM2VUYlTFKE/U13qxg795nOkJ3hEQd6RvFcZa5K4IoYyHdx47Ef9g0sFq44Agf2MLW7o8PGFcQELyAvZdjMbodneL6hdOr5zI056qOhSoagsG8I17TSd";

describe("a public key", () => {
  it("is shown by its type and the fingerprint that ssh-keygen shows", async () => {
    const key = await readPublicKey(`\n${ED25519}\r\n`);
    expect(key).toMatchObject({
      type: "ssh-ed25519",
      words: "ED25519",
      comment: "ada@desk",
      fingerprint: "SHA256:FjHoLvcq7hNU9rKAZMqgBvjuWSRYbFlTQU8MZ8aEMZM",
    });
    expect(key.line).toBe(ED25519.replace(" ada@desk", ""));
  });

  it("keeps a comment of several words", async () => {
    expect(await readPublicKey(ECDSA)).toMatchObject({
      words: "ECDSA, P-256",
      comment: "two words",
      fingerprint: "SHA256:ziUafqdn1717LMNEHNtcldgh/9oyyBwi+zqMc+3ctiE",
    });
  });

  it("says how many bits an RSA key has", async () => {
    expect((await readPublicKey(RSA)).words).toBe("RSA, 3072 bits");
  });
});

describe("what is no public key", () => {
  const refusals: [string, string, RegExp][] = [
    ["a short RSA key", SMALL_RSA, /2048 bits; 3072 are needed/],
    ["a key cut short", ED25519.slice(0, 60), /cut short/],
    ["a key whose type was changed", ED25519.replace("ssh-ed25519", "ssh-rsa"), /cut short or changed/],
    ["no base64", "ssh-ed25519 !!!!", /cut short/],
    ["two keys", `${ED25519}\n${ECDSA}`, /more than one line/],
    ["options before the key", `command="ls" ${ED25519}`, /not a public key/],
    ["another format", "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA", /ssh-keygen -i/],
    ["any text", "hello", /not a public key/],
  ];
  it.each(refusals)("is refused: %s", async (_, text, why) => {
    await expect(readPublicKey(text)).rejects.toThrow(why);
  });

  it.each([
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r",
    "-----BEGIN RSA PRIVATE KEY-----",
    "PuTTY-User-Key-File-3: ssh-rsa",
  ])("is named a private key and marked as not to be kept: %s", async (text) => {
    const refusal = await readPublicKey(text).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(KeyRefused);
    expect(refusal).toMatchObject({ isPrivate: true });
    expect(String(refusal)).toMatch(/private key.*ends in \.pub/);
  });
});
