// A client of the gate made from the .proto files alone: it submits one head and watches it until the stream ends.
//
//	gate-client -server 127.0.0.1:8443 -repository owners/o/repositories/r -change 7 -head HEX -ticket NAME
//
// The token comes from GATEKEEPER_TOKEN. Every snapshot is printed as "revision STATE VERDICT"; an rpc error as
// "error STATUS REASON" with exit status 1.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	gatekeeperv1 "gatekeeper/api/v1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func main() {
	server := flag.String("server", "", "host:port")
	repository := flag.String("repository", "", "resource name")
	change := flag.String("change", "", "key of the change")
	head := flag.String("head", "", "commit")
	ticket := flag.String("ticket", "", "resource name")
	claim := flag.String("claim", "", "file of the claim")
	flag.Parse()
	if err := run(*server, *repository, *change, *head, *ticket, *claim); err != nil {
		reason := ""
		for _, detail := range status.Convert(err).Details() {
			if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Domain == "gatekeeper" {
				reason = info.Reason
			}
		}
		fmt.Println("error", status.Code(err), reason)
		os.Exit(1)
	}
}

func run(server, repository, change, head, ticket, claim string) error {
	connection, err := grpc.NewClient(server, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Getenv("GATEKEEPER_TOKEN"))

	client := gatekeeperv1.NewVerificationServiceClient(connection)
	request := &gatekeeperv1.SubmitRequest{
		Parent: repository, ChangeKey: change, TargetRef: "refs/heads/main", HeadCommit: head, Ticket: ticket,
		RequestId: uuid(),
	}
	if claim != "" {
		document, err := os.ReadFile(claim)
		if err != nil {
			return err
		}
		request.Claim = &gatekeeperv1.SubmitRequest_ClaimDocument{ClaimDocument: document}
	}
	submitted, err := client.Submit(ctx, request)
	if err != nil {
		return err
	}
	again, err := client.Submit(ctx, request) // the same id: the same verification, nothing twice
	if err != nil {
		return err
	}
	if again.Verification.Name != submitted.Verification.Name {
		return fmt.Errorf("a repeated request id made %s beside %s", again.Verification.Name, submitted.Verification.Name)
	}
	fmt.Println("submitted", submitted.Verification.Name)
	stream, err := client.WatchVerification(ctx, &gatekeeperv1.WatchVerificationRequest{Name: submitted.Verification.Name})
	if err != nil {
		return err
	}
	for {
		snapshot, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		made := snapshot.Verification
		fmt.Println(made.Revision, made.State, made.Verdict)
	}
}

func uuid() string {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		panic(err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
